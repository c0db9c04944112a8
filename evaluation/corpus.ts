import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from '#typebox'
import { GateError } from '../src/base/errors.ts'
import { parseJson } from '../src/base/json.ts'
import { parserOf } from '../src/base/schema.ts'
import { CannotRun } from '../src/cli/context.ts'

/** Recorded sessions of agents: one JSON object a line in sessions.jsonl and calls.jsonl. corpus/README.md says what each member means. */

const Session = Type.Object({
  session: Type.String({ minLength: 1 }),
  source: Type.String({ minLength: 1 }),
  suite: Type.String({ minLength: 1 }),
  /** `full`: every session of one pipeline, so that rates compare with published ones; else `sample`. */
  set: Type.String(),
  /** The part of the recordings that it belongs to; withheld goals and suites are slices of their own. */
  slice: Type.Optional(Type.String()),
  pipeline: Type.String(),
  user_task: Type.String(),
  /** The attacker's goal; null in a session without an attack, which is a clean one. */
  injection_task: Type.Union([Type.String(), Type.Null()]),
  prompt: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  recorded_utility: Type.Boolean(),
  recorded_attack_success: Type.Union([Type.Boolean(), Type.Null()]),
  /** There is a call whose refusal stops the attack; false where the goal is a sentence in the answer. */
  gateable: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
})

const Call = Type.Object({
  id: Type.String({ minLength: 1 }),
  session: Type.String({ minLength: 1 }),
  order: Type.Integer({ minimum: 0 }),
  action: Type.String({ minLength: 1 }),
  args: Type.Optional(Type.Unknown()),
  effect: Type.Optional(Type.String()),
  label: Type.Enum(['benign', 'attack', 'dual', 'unclear', 'wrong_write']),
  role: Type.Optional(Type.Enum(['goal', 'enabler', 'support'])),
  necessary_for_attack: Type.Optional(Type.Boolean()),
  context: Type.Optional(
    Type.Object({
      tainted: Type.Optional(Type.Boolean()),
      prov: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
    }),
  ),
})

const Task = Type.Object({
  source: Type.String(),
  suite: Type.String(),
  kind: Type.String(),
  id: Type.String(),
  ground_truth: Type.Union([Type.Null(), Type.Array(Type.Object({ action: Type.String() }))]),
})

export type Call = Static<typeof Call>
type Task = Static<typeof Task>

/** A session with its calls, in the order in which they were made. */
export interface Session extends Static<typeof Session> {
  readonly calls: readonly Call[]
}

export interface Corpus {
  readonly sessions: readonly Session[]
  /** Tasks with their solutions; undefined if the corpus has no tasks.json. */
  readonly tasks: readonly Task[] | undefined
}

const LIMITS = { maxDepth: 64 }
const parseSession = parserOf(Session)
const parseCall = parserOf(Call)
const parseTasks = parserOf(Type.Array(Task))

/** @throws CannotRun naming the file, and the line of what cannot be used */
export function readCorpus(folder: string): Corpus {
  const heads = readLines(join(folder, 'sessions.jsonl'), parseSession)
  const callsOf = new Map<string, Call[]>()
  for (const { value, place } of heads) {
    if (callsOf.has(value.session)) throw new CannotRun(`${place}: the session ${value.session} is there twice.`)
    callsOf.set(value.session, [])
  }
  const ids = new Set<string>()
  for (const { value, place } of readLines(join(folder, 'calls.jsonl'), parseCall)) {
    const calls = callsOf.get(value.session)
    if (calls === undefined) throw new CannotRun(`${place}: sessions.jsonl has no session ${value.session}.`)
    if (ids.has(value.id)) throw new CannotRun(`${place}: the call ${value.id} is there twice.`)
    ids.add(value.id)
    calls.push(value)
  }
  const inOrder = (session: string) => (callsOf.get(session) ?? []).sort((a, b) => a.order - b.order)
  const sessions = heads.map(({ value }) => ({ ...value, calls: inOrder(value.session) }))
  if (ids.size === 0) throw new CannotRun(`${folder} has no calls to replay.`)
  return { sessions, tasks: readTasks(join(folder, 'tasks.json')) }
}

/** The sources of the corpus, each of which is a tenant, in the order of their names. */
export function sourcesOf({ sessions }: Corpus): string[] {
  return [...new Set(sessions.map(({ source }) => source))].sort()
}

/** Number of calls of each source. */
export function callsOf({ sessions }: Corpus): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { source, calls } of sessions) counts.set(source, (counts.get(source) ?? 0) + calls.length)
  return counts
}

function readTasks(path: string): readonly Task[] | undefined {
  return existsSync(path) ? readAs(path, readText(path), parseTasks) : undefined
}

function readLines<T>(path: string, parse: (value: unknown) => T): { value: T; place: string }[] {
  return readText(path)
    .split('\n')
    .flatMap((text, i) => {
      const place = `${path}:${i + 1}`
      return text === '' ? [] : [{ place, value: readAs(place, text, parse) }]
    })
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const message = `${path} cannot be read. A corpus is a folder with sessions.jsonl and calls.jsonl, such as evaluation/corpus.`
    throw new CannotRun(message, { cause })
  }
}

function readAs<T>(place: string, text: string, parse: (value: unknown) => T): T {
  try {
    return parse(parseJson(text, LIMITS))
  } catch (cause) {
    if (cause instanceof GateError) throw new CannotRun(`${place}: ${cause.message}`, { cause })
    throw cause
  }
}
