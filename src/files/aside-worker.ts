import { parentPort, workerData } from 'node:worker_threads'
import { compilePolicySet, listFilesOf } from '../policy/load.ts'
import { validatePolicySet } from '../policy/validation.ts'
import type { Job } from './aside.ts'

// Buffers arrive as plain Uint8Arrays, Maps as Maps: structured cloning keeps what is asked and answered.
parentPort?.postMessage(outcomeOf(workerData as Job))

function outcomeOf([what, argument]: Job): unknown {
  if (what === 'compile') return compilePolicySet(argument)
  return what === 'validate' ? validatePolicySet(argument) : listFilesOf(argument)
}
