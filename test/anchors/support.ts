import '../declared.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseAnchor } from '../../src/evidence/anchor.ts'
import { createLogger, type Logger } from '../../src/service/log.ts'
import { type Cleanup, type Gate, type GateOptions, openBeside, startGate, temporaryFolder } from '../helpers.ts'

export { sleep }

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** The checkpoints in a file of anchors, as `chain size` in the order of the lines. */
export function anchored(path: string): string[] {
  return linesOf(path).map((line) => shortOf(parseAnchor(line)?.checkpoint ?? 'malformed\nline'))
}

export function shortOf(note: string): string {
  const [log = '', size] = note.split('\n')
  return `${log.slice(log.indexOf('/') + 1)} ${size}`
}

export function linesOf(path: string): string[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8').split('\n').slice(0, -1)
}

/** Every checkpoint of the data file, as `chain size` in the order in which they were signed. */
export async function signed(dir: string): Promise<string[]> {
  const store = await openBeside(dir)
  try {
    return (await store.checkpointsAfter(0, 10_000)).map(({ note }) => shortOf(note))
  } finally {
    await store.close()
  }
}

export interface Received {
  headers: IncomingMessage['headers']
  body: string
}

/** A receiver of webhooks over a real socket; `answer` is what it does, which may change. */
export async function receiver(
  t: Cleanup,
  answer: (received: Received) => RequestListener = () => (_, res) => res.end(),
) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const one = { headers: request.headers, body: Buffer.concat(parts).toString() }
    received.push(one)
    answer(one)(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  t.after(close)
  return { url: `http://127.0.0.1:${port}/hook`, received, close }
}

/** The log as objects. */
export function keptLog(): { log: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = []
  return { log: createLogger('info', { write: (text) => void lines.push(JSON.parse(text)) }), lines }
}

/** Somebody to ask, and a place for anchors. */
export async function anchoredGate(t: Cleanup, options: GateOptions = {}) {
  const file = join(temporaryFolder(), 'anchors.jsonl')
  const gate = await startGate(t, { ...options, settings: { anchorFile: file, ...options.settings } })
  return { gate, file, ...(await askedOf(gate)) }
}

export async function askedOf(gate: Gate) {
  const key = await gate.key()
  const check = async (): Promise<{ status: number; error: unknown; message: string }> => {
    const { status, body } = await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
    return { status, error: body.error ?? null, message: body.message ?? '' }
  }
  /** Has a checkpoint made at once, of this tenant's chain and the service's own. */
  const stop = async (): Promise<void> => {
    const request = { level: 'L1', scope: 'never.used', reason: 'drill', triggeredBy: 'ann' }
    assert.equal((await gate.call(key, 'POST', '/killswitch/trigger', request)).status, 200)
  }
  return { key, check, stop, ready: () => readiness(gate), metrics: () => metricsOf(gate) }
}

export async function readiness(gate: Gate) {
  const response = await fetch(`${gate.server.url}/readyz`)
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted member by member
  const { data, error, message }: any = await response.json()
  return { status: response.status, error, message, anchors: data?.anchors }
}

export async function metricsOf(gate: Gate): Promise<string> {
  return (await fetch(`${gate.server.url}/metrics`)).text()
}
