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
    if (!json) process.stdout.write(lines.map((line) => `${rendered(line, process.stdout)}\n`).join(''))
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

/** The command, with what it leaves behind when it ends in any way. */
async function main(): Promise<void> {
  const flag = { type: 'boolean', default: false } as const
  const options = parseArgs({ options: { json: flag, all: flag } }).values
  const folder = temporaryFolder()
  process.once('exit', () => folder.remove())
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
  // Who reads only the beginning, such as `head`, has not seen every step.
  process.stdout.once('error', () => process.exit(1))
  await demo(folder, options)
}

try {
  await main()
} catch (error) {
  const isForUser = error instanceof StepFailed || (error instanceof TypeError && 'code' in error)
  process.stderr.write(`demo: ${isForUser ? error.message : error instanceof Error ? error.stack : error}\n`)
  // The sidecar may still run, and would keep this process waiting.
  process.exit(1)
}
