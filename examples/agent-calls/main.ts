import { parseArgs } from 'node:util'
import { type Line, rendered } from '../../src/cli/output.ts'
import { readSample } from './sample.ts'
import { allRows, countsByLabel, countsOf, digest, progressBar } from './show.ts'
import { type Folder, StepFailed, startSidecar, temporaryFolder } from './sidecar.ts'
import { approve, makeKeys, makeOwner, play, prove, stopAndRecover, verifyChain } from './steps.ts'
import { approvalLines, heading, inWords, labelLines, proofLines, stopLines } from './story.ts'

/**
 * `npm run demo`: recorded calls of agents go through a running sidecar, one that is held is approved, money is stopped
 * and freed again, and the trail is proved. Ends with 0 only when every step did what it says.
 */

interface Options {
  json: boolean
  all: boolean
}

async function demo(folder: Folder, { json, all }: Options): Promise<void> {
  const say = (lines: readonly Line[]): void => {
    if (!json) process.stdout.write(lines.map((line) => `${rendered(line)}\n`).join(''))
  }
  const sample = readSample()
  const owner = await makeOwner(folder)
  const sidecar = await startSidecar(folder)
  const keys = await makeKeys(sidecar, owner)
  say(heading(`1  A sidecar decides at ${sidecar.url}, by policies/demo.`))

  const startedMs = performance.now()
  const bar = progressBar(sample.calls.length, !json && process.stderr.isTTY === true)
  const played = await play(sidecar, keys, sample, bar)
  const seconds = (performance.now() - startedMs) / 1000
  const decisions = countsOf(played)
  const labelled = countsByLabel(played, sample)
  say(heading(`2  ${played.length} recorded calls of ${sample.requests.size} sessions, in ${seconds.toFixed(1)} s.`))
  say(all ? allRows(played) : digest(played))
  say([
    '',
    `  ${played.length} calls: ${inWords(decisions)}. By what they were for, which the gate is not told:`,
    ...labelLines(labelled),
  ])

  const approved = await approve(sidecar, keys, played)
  say([...heading('3  A held call is approved, and goes through once.'), ...approvalLines(approved, sample)])
  const stopped = await stopAndRecover(sidecar, keys, played)
  say([...heading('4  Everything that moves money is stopped (L2), and freed again.'), ...stopLines(stopped)])
  const { entriesChecked } = await verifyChain(sidecar, keys)
  say([
    ...heading('5  The trail is verified.'),
    `  ${entriesChecked} entries, each of which follows from the one before it.`,
  ])
  const proved = await prove(folder, sidecar, keys, approved.used)
  say([...heading('6  The approved call is proved, with the sidecar ended.'), ...proofLines(proved), ''])
  const summary = { calls: played.length, seconds, decisions, labelled, approved, stopped, entriesChecked, proved }
  if (json) process.stdout.write(`${JSON.stringify(summary)}\n`)
}

function readOptions(): Options {
  const flag = { type: 'boolean', default: false } as const
  return parseArgs({ options: { json: flag, all: flag } }).values
}

const folder = temporaryFolder()
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => {
    folder.remove()
    process.exit(code)
  })
}
try {
  await demo(folder, readOptions())
} catch (error) {
  const why = error instanceof StepFailed ? error.message : error instanceof Error ? error.stack : error
  process.stderr.write(`demo: ${why}\n`)
  process.exitCode = 1
} finally {
  folder.remove()
}
