import { parentPort, workerData } from 'node:worker_threads'
import { fileConnection } from './file-connection.ts'
import { groupCommitter, type WriteRequest } from './writer.ts'
import type { WriterData } from './writers.ts'

const { address, memory } = workerData as WriterData
const file = fileConnection(address)
const commit = groupCommitter(file, address.origin, memory)

parentPort?.on('message', (request: WriteRequest | 'close') => {
  if (request === 'close') {
    file.close()
    parentPort?.close()
  } else {
    parentPort?.postMessage(commit(request))
  }
})
