import { parentPort, workerData } from 'node:worker_threads'
import { compilePolicySet, listFilesOf } from '../policy/load.ts'
import type { Job } from './aside.ts'

// Buffers arrive as plain Uint8Arrays, Maps as Maps: structured cloning keeps what is asked and answered.
const [what, argument] = workerData as Job
parentPort?.postMessage(what === 'compile' ? compilePolicySet(argument) : listFilesOf(argument))
