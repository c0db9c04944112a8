import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** A recorded tool call of an agent; see testdata/replay/SOURCE.md. */
export interface RecordedCall {
  source: string
  suite: string
  session: string
  order: number
  action: string
  args?: Record<string, unknown>
  effect?: string
  context?: { tainted?: boolean; prov?: Record<string, string[]> } & Record<string, unknown>
}

export interface Recording {
  calls: RecordedCall[]
  /** Request text of the user, by session. */
  prompts: Map<string, string>
}

export function readRecording(folder: URL): Recording {
  const lines = (name: string): string[] =>
    gunzipSync(readFileSync(new URL(name, folder)))
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '')
  const sessions = lines('sessions.jsonl.gz').map((line): { session: string; prompt: string } => JSON.parse(line))
  return {
    calls: lines('calls.jsonl.gz').map((line): RecordedCall => JSON.parse(line)),
    prompts: new Map(sessions.map(({ session, prompt }) => [session, prompt])),
  }
}

export interface Replayed {
  call: RecordedCall
  status: number
  /** Undefined when the answer holds none. */
  decision: string | undefined
}

/** How many sessions run at once, and how many of its earlier actions a request names. */
const CONCURRENCY = 8
const PRIOR_ACTIONS = 20

/** Sends every call: those of one session in order, sessions side by side. Each source is a tenant. */
export async function replay(url: string, key: string, { calls, prompts }: Recording): Promise<Replayed[]> {
  const sessions = new Map<string, RecordedCall[]>()
  for (const call of calls) sessions.set(call.session, [...(sessions.get(call.session) ?? []), call])
  const waiting = [...sessions.values()]
  const replayed: Replayed[] = []
  const worker = async (): Promise<void> => {
    for (let session = waiting.shift(); session !== undefined; session = waiting.shift()) {
      const prior: string[] = []
      for (const call of session.sort((a, b) => a.order - b.order)) {
        replayed.push(await send(url, key, call, requestOf(call, prompts.get(call.session), prior)))
        prior.push(call.action)
      }
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  return replayed
}

function requestOf(call: RecordedCall, userRequest: string | undefined, prior: readonly string[]) {
  const { source, suite, session, order, action, args, effect, context } = call
  return {
    tenantId: source,
    action,
    context: {
      args,
      session,
      step: order,
      source,
      suite,
      effect,
      userRequest,
      priorActions: prior.slice(-PRIOR_ACTIONS),
      tainted: context?.tainted ?? false,
      provenance: context?.prov ?? {},
      // The customer and the reservation, which the airline's own rules are about.
      ...(source === 'tau-bench' ? { record: context } : {}),
    },
  }
}

async function send(url: string, key: string, call: RecordedCall, body: object): Promise<Replayed> {
  const headers = { 'content-type': 'application/json', 'x-api-key': key, 'x-tenant-id': call.source }
  const response = await fetch(`${url}/gate/check`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  })
  const { data }: { data?: { decision?: string } } = JSON.parse(await response.text())
  return { call, status: response.status, decision: data?.decision }
}
