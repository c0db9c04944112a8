import { parentPort, workerData } from 'node:worker_threads'
import { type Memory, withChanges } from '../memory.ts'
import { type FileAddress, fileConnection } from './file-connection.ts'
import { unpacked } from './packed.ts'
import { groupCommitter } from './writer.ts'
import type { ThreadReply, ThreadRequest } from './writers.ts'

const address = workerData as FileAddress
const file = fileConnection(address)
const commit = groupCommitter(file, address.origin)
let memory: Memory | undefined

parentPort?.on('message', (message: ThreadRequest | 'close') => {
  if (message === 'close') {
    file.close()
    parentPort?.close()
  } else {
    const { changes, submissions, ...request } = message
    if (changes !== undefined) memory = withChanges(memory, changes)
    if (memory === undefined) throw new TypeError('the first request brings all records')
    const reply = commit({ ...request, submissions: unpacked(submissions), memory })
    const told: ThreadReply = reply.kind === 'written' ? { ...reply, results: JSON.stringify(reply.results) } : reply
    parentPort?.postMessage(told)
  }
})
