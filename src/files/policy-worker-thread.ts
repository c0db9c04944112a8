import { parentPort } from 'node:worker_threads'
import { compileAndTest } from '../authoring/cases/accept.ts'
import { compilePolicySet, validatePolicySet } from '../authoring/load/load.ts'
import { listFilesOf } from '../authoring/load/read-files.ts'
import { draftVerdict } from '../gate/verdict.ts'
import { cut } from '../workers/parts.ts'
import type { CutPolicies, Job } from './policy-worker.ts'

// Structured cloning keeps jobs and answers intact: Buffers arrive as plain Uint8Arrays, Maps as Maps.
parentPort?.on('message', async (job: Job) => parentPort?.postMessage(await outcomeOf(job)))

async function outcomeOf([what, argument]: Job): Promise<unknown> {
  if (what === 'listFiles') return listFilesOf(argument)
  if (what === 'judge') return draftVerdict(argument)
  if (what === 'validate') return validatePolicySet(argument)
  const { data, diagnostics } = what === 'compileAndTest' ? await compileAndTest(argument) : compilePolicySet(argument)
  // Callers on other threads never run the tests, so they are not sent.
  return { data: data && cut(data), diagnostics: cut({ diagnostics }) } satisfies CutPolicies
}
