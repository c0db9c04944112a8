import { parentPort, workerData } from 'node:worker_threads'
import { loadPolicySet, type PolicySource } from '../policy/load.ts'

// Buffers arrive as plain Uint8Arrays, Maps as Maps: structured cloning keeps a PolicySource one.
parentPort?.postMessage(loadPolicySet(workerData as PolicySource).diagnostics)
