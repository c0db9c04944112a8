import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { connect } from './connection.ts'
import { dataFileIdentity } from './identity.ts'
import { openDatabase } from './open.ts'
import type { VerifyJob, VerifyMessage } from './verifiers.ts'
import { verifyChain } from './verify-chain.ts'

/** As `nice` counts. */
const LOW_PRIORITY = 10

const { address, request } = workerData as VerifyJob
const tell = (message: VerifyMessage): void => parentPort?.postMessage(message)

// Of this thread alone, on Linux: who asks for decisions goes first.
if (process.platform === 'linux') setPriority(LOW_PRIORITY)

if (dataFileIdentity(address.dir) !== address.file) throw new Error('the data file was replaced while it was open')
const connection = connect(openDatabase(address.dir, { create: false }))
try {
  tell({ result: verifyChain(connection, address.origin, request, (checked) => tell({ checked })) })
} finally {
  connection.db.close()
}
