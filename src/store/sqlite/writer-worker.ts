import { parentPort, workerData } from 'node:worker_threads'
import { type FileAddress, fileConnection } from './file-connection.ts'
import { groupCommitter, type WriteRequest } from './writer.ts'

const address = workerData as FileAddress
const file = fileConnection(address)
const commit = groupCommitter(file, address.origin)

parentPort?.on('message', (request: WriteRequest | 'close') => {
  if (request === 'close') {
    file.close()
    parentPort?.close()
  } else {
    parentPort?.postMessage(commit(request))
  }
})
