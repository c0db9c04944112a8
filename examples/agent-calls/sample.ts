import { readFileSync } from 'node:fs'

/** A recorded tool call: what the program around the agent knew when the model asked for it. See SOURCE.md. */
export interface Call {
  session: string
  step: number
  action: string
  args: Record<string, unknown>
  /** An earlier result in the session holds text that a third party wrote. */
  tainted: boolean
  /** For each argument, where its value was found: user, tool, third_party, model or const. */
  provenance: Record<string, string[]>
}

interface Session {
  name: string
  /** What the user had asked for. */
  request: string
}

/**
 * Whom a call served: the user; an attacker, by doing what he wanted (goal) or by reading on the way to it (support); both
 * or unclear (other). The gate never sees this.
 */
export type Label = 'user' | 'goal' | 'support' | 'other'

export interface Sample {
  calls: Call[]
  /** Request of the user, by session. */
  requests: Map<string, string>
  labelOf(call: Call): Label
}

export function readSample(): Sample {
  const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')
  const lines = (name: string): string[] => read(name).trimEnd().split('\n')
  const sessions = lines('sessions.jsonl').map((line): Session => JSON.parse(line))
  const marked: Record<'goal' | 'support' | 'dual' | 'unclear', string[]> = JSON.parse(read('labels.json'))
  const labels = new Map<string, Label>()
  for (const id of marked.goal) labels.set(id, 'goal')
  for (const id of marked.support) labels.set(id, 'support')
  for (const id of [...marked.dual, ...marked.unclear]) labels.set(id, 'other')
  return {
    calls: lines('calls.jsonl').map((line): Call => JSON.parse(line)),
    requests: new Map(sessions.map(({ name, request }) => [name, request])),
    labelOf: ({ session, step }) => labels.get(`${session}#${step}`) ?? 'user',
  }
}
