import assert from 'node:assert/strict'
import { type ChildProcess, type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { verifySeqs } from '../../src/actions/audit/verify-range.ts'
import type { Store } from '../../src/store/store.ts'
import { assertDeclared } from '../declared.ts'
import { ACME_POLICY, type Cleanup, openFile, writeFiles } from '../helpers.ts'
import { until } from '../until.ts'

const BIN = fileURLToPath(new URL('../../bin/gate-sidecar.js', import.meta.url))
const run = promisify(execFile)

/** Data and policy folders of the built service. */
export interface Folder {
  data: string
  policies: string
}

export function folderIn(dir: string): Folder {
  writeFiles(dir, { 'policies/acme/main.yaml': ACME_POLICY })
  return { data: join(dir, 'data'), policies: join(dir, 'policies') }
}

/** Runs a command of the built service and reads the JSON that it prints. */
export async function command(folder: Folder, ...args: string[]) {
  const { stdout } = await run(process.execPath, [BIN, ...args, '--data', folder.data, '--json'])
  return JSON.parse(stdout)
}

export interface Service {
  url: string
  child: ChildProcess
  /** Sends the signal and waits for the end. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  ended: Promise<unknown>
}

/** The built service in a process of its own, listening. @param more further flags */
export async function serve(t: Cleanup, folder: Folder, ...more: string[]): Promise<Service> {
  return listening(t, spawn(process.execPath, argumentsFor(folder, more), STDIO))
}

/** The same, in a process that may open so many files. */
export async function serveWithin(t: Cleanup, openFiles: number, folder: Folder): Promise<Service> {
  const line = `ulimit -n ${openFiles}; exec "$@"`
  return listening(t, spawn('sh', ['-c', line, 'sh', process.execPath, ...argumentsFor(folder, [])], STDIO))
}

const STDIO = { stdio: ['ignore', 'pipe', 'inherit'] as ['ignore', 'pipe', 'inherit'] }

function argumentsFor({ data, policies }: Folder, more: readonly string[]): string[] {
  return [BIN, 'serve', '--port', '0', '--data', data, '--policies', policies, ...more]
}

async function listening(t: Cleanup, child: ChildProcessByStdio<null, Readable, null>): Promise<Service> {
  const ended = once(child, 'exit')
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    await ended
  }
  t.after(() => end('SIGKILL'))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { msg, url } = JSON.parse(line)
      if (msg === 'listening') resolve(url)
    })
    ended.then(() => reject(new Error('the service ended before it listened')), reject)
  })
  return { url, child, end, ended }
}

export interface Key {
  key: string
  tenantId: string
}

export interface Reply {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted member by member
  body: any
}

/** One request; undefined when the service went away before it answered. */
export function post(
  url: string,
  { key, tenantId }: Key,
  path: string,
  body: object,
  agent?: Agent,
  more: Record<string, string> = {},
): Promise<Reply | undefined> {
  return new Promise((resolve) => {
    const headers = { 'x-api-key': key, 'x-tenant-id': tenantId, 'content-type': 'application/json', ...more }
    const gone = (): void => resolve(undefined)
    const sent = request(url + path, { method: 'POST', headers, ...(agent && { agent }) }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part) => parts.push(part))
      response.on('error', gone)
      response.on('close', () => {
        if (!response.complete) return gone()
        const status = response.statusCode ?? 0
        const answer: unknown = JSON.parse(Buffer.concat(parts).toString())
        const contentType = response.headers['content-type'] ?? null
        assertDeclared({ method: 'POST', path, status, contentType, body: answer })
        resolve({ status, body: answer })
      })
    })
    sent.on('error', gone)
    sent.end(JSON.stringify({ tenantId, ...body }))
  })
}

/** Begins to replay a draft of the policies under folderIn, and waits for its end. Returns the path of the replay. */
export async function replayed(url: string, owner: Key): Promise<string> {
  const text = ACME_POLICY.replace('value: 1000}', 'value: 10}')
  const draft = { files: [{ name: 'main.yaml', text }], from: '2026-01-01T00:00:00Z' }
  const begun = await post(url, owner, '/policies/replay', draft)
  const path = `/policies/replay/${begun?.body.data.id}`
  await until('the replay is done', async () => {
    const headers = { 'x-api-key': owner.key, 'x-tenant-id': owner.tenantId }
    const answer = await (await fetch(url + path, { headers })).text()
    const { data }: { data?: { status: string } } = JSON.parse(answer)
    assert.ok(data !== undefined && data.status !== 'failed', answer)
    // The key's requests a minute are limited.
    await later(100)
    return data.status === 'done'
  })
  return path
}

export interface Load {
  /** Decision ids that were answered with 200. */
  acknowledged: string[]
  /** Statuses other than 200. */
  refused: number[]
  stop(): Promise<void>
}

/**
 * Checks over so many connections, each one after another, until it is stopped or the service goes away.
 *
 * @param pauseMs after each
 */
export function load(url: string, key: Key, connections: number, pauseMs = 0): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const acknowledged: string[] = []
  const refused: number[] = []
  let running = true
  const loop = async (worker: number): Promise<void> => {
    for (let n = 0; running; n += 1) {
      const amount = (worker * 1000 + n) % 3 === 0 ? 1_000_000 : n
      const reply = await post(url, key, '/gate/check', { action: 'payment.transfer', context: { amount } }, agent)
      if (reply === undefined) return
      if (pauseMs > 0) await later(pauseMs)
      if (reply.status === 200) acknowledged.push(reply.body.data.decisionId)
      else refused.push(reply.status)
    }
  }
  const done = Promise.all(Array.from({ length: connections }, (_, worker) => loop(worker)))
  return {
    acknowledged,
    refused,
    async stop() {
      running = false
      await done
      agent.destroy()
    },
  }
}

/** Every chain of the file, or of the store, verifies, and every decision that was acknowledged is in it. Returns how many entries there are. */
export async function assertRecorded(at: string | Store, acknowledged: readonly string[]): Promise<number> {
  const store = typeof at === 'string' ? openFile(at) : at
  try {
    let entries = 0
    for (const chain of await store.chains()) {
      const { total } = await store.page({ chain, order: 'desc', limit: 1, offset: 0 })
      const { valid, fault, firstBadSeq } = await verifySeqs(store, chain, { first: 0, end: total })
      assert.ok(valid, `${chain}, entry ${firstBadSeq}: ${fault}`)
      entries += total
    }
    for (const id of acknowledged) {
      const entry = await store.entry(id.replace('dec_', 'aud_'))
      assert.equal(entry?.header.type, 'gate.decision', `${id} was acknowledged`)
    }
    assert.equal(new Set(acknowledged).size, acknowledged.length)
    return entries
  } finally {
    await store.close()
  }
}

/** Ids of the entries that seal a replay in the trail of acme, which is whole. */
export async function seals({ data }: Folder): Promise<string[]> {
  await assertRecorded(data, [])
  const store = openFile(data)
  try {
    const query = { chain: 'acme/live', order: 'asc', limit: 100, offset: 0, eventType: 'policy.replayed' } as const
    return (await store.page(query)).items.map(({ header }) => header.id)
  } finally {
    await store.close()
  }
}

export const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
