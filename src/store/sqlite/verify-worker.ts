import { parentPort, workerData } from 'node:worker_threads'
import { letOthersGoFirst } from '../../workers/thread.ts'
import { connect } from './connection.ts'
import { dataFileIdentity } from './file-connection.ts'
import { openDatabase } from './open.ts'
import { type VerifyJob, type VerifyMessage, verifiedNow } from './verifiers.ts'

const { address, request } = workerData as VerifyJob
const tell = (message: VerifyMessage): void => parentPort?.postMessage(message)

letOthersGoFirst()

if (dataFileIdentity(address.dir) !== address.file) throw new Error('the data file was replaced while it was open')
const connection = connect(openDatabase(address.dir, { create: false }))
try {
  tell({ result: verifiedNow(connection, address.origin, request, (checked) => tell({ checked })) })
} finally {
  connection.db.close()
}
