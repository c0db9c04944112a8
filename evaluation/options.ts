import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { UsageError } from '../src/cli/context.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const MAX_CONCURRENCY = 64

export const HELP = `Usage: npm run evaluate -- [options]

Replays recorded sessions of agents through a sidecar that it starts, scores what was decided, and writes docs/evaluation.md.

Options:
  --corpus <folder>    sessions.jsonl and calls.jsonl (default: evaluation/corpus)
  --policies <folder>  a folder for each source of the corpus (default: policies)
  --concurrency <n>    sessions that run side by side, at most ${MAX_CONCURRENCY} (default: 8)
  --out <file>         the page; its chart is written beside it (default: docs/evaluation.md; with another corpus or
                       other policies: none)
  --json <file>        the scores
  --decisions <file>   every decision, one JSON object a line
  --help               show this

It ends with 0 when every call was decided, with 2 for options that cannot be used, and with 3 when it could not run: a
tenant without policies, a file that cannot be read, a call without an answer.

Example:
  npm run evaluate -- --policies my-policies --out my-evaluation.md
`

export interface Options {
  corpus: string
  policies: string
  concurrency: number
  /** Undefined where no page is asked for. */
  out: string | undefined
  json: string | undefined
  decisions: string | undefined
}

/** Parses the arguments to options with absolute paths, or to `help`. @throws UsageError */
export function optionsOf(args: readonly string[]): Options | 'help' {
  const given = parsed(args)
  if (given.help === true) return 'help'
  const isOurs = given.corpus === undefined && given.policies === undefined
  return {
    corpus: resolve(given.corpus ?? join(ROOT, 'evaluation', 'corpus')),
    policies: resolve(given.policies ?? join(ROOT, 'policies')),
    concurrency: concurrencyOf(given.concurrency ?? '8'),
    // Measurements of anything else are not written over those of what is shipped.
    out: pathOf(given.out ?? (isOurs ? join(ROOT, 'docs', 'evaluation.md') : undefined)),
    json: pathOf(given.json),
    decisions: pathOf(given.decisions),
  }
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const
  const options = { corpus: text, policies: text, concurrency: text, out: text, json: text, decisions: text }
  try {
    return parseArgs({ args: [...args], options: { ...options, help: { type: 'boolean' } } }).values
  } catch (cause) {
    if (!(cause instanceof TypeError && 'code' in cause)) throw cause
    throw new UsageError(`${cause.message} See --help.`, { cause })
  }
}

function concurrencyOf(text: string): number {
  if (/^[1-9]\d?$/.test(text) && Number(text) <= MAX_CONCURRENCY) return Number(text)
  throw new UsageError(`--concurrency must be a whole number from 1 to ${MAX_CONCURRENCY}.`)
}

const pathOf = (path: string | undefined): string | undefined => (path === undefined ? undefined : resolve(path))
