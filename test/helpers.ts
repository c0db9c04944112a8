import './declared.ts'
import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { serialize } from 'node:v8'
import { createKey } from '../src/actions/keys/keys.ts'
import { ensureTenant } from '../src/actions/keys/tenants.ts'
import { compileAndTest } from '../src/authoring/cases/accept.ts'
import type { PolicySource } from '../src/authoring/load/files.ts'
import { compilePolicySet, validatePolicySet } from '../src/authoring/load/load.ts'
import { listFilesOf } from '../src/authoring/load/read-files.ts'
import { boundedCache } from '../src/base/bounded-cache.ts'
import { idMaker } from '../src/base/id.ts'
import { once } from '../src/base/memo.ts'
import type { Clock } from '../src/base/time.ts'
import { sealKeysAt } from '../src/files/signing-key.ts'
import { draftVerdict } from '../src/gate/verdict.ts'
import { examineHere } from '../src/http/evidence/examine.ts'
import { openDraftHere } from '../src/http/replay/here.ts'
import type { Role } from '../src/keys/roles.ts'
import type { KillSwitch } from '../src/killswitch/killswitch.ts'
import { type ConfigSources, readConfig } from '../src/service/config.ts'
import { createLogger, type Logger } from '../src/service/log.ts'
import { type RunningServer, type ServerOptions, startServer } from '../src/service/server.ts'
import { openConfigured } from '../src/service/store.ts'
import { DATA_FILE, openDatabase } from '../src/store/sqlite/open.ts'
import { openStore } from '../src/store/sqlite/store.ts'
import { verifyHere } from '../src/store/sqlite/verifiers.ts'
import { writeHere } from '../src/store/sqlite/writers.ts'
import type { Store } from '../src/store/store.ts'
import { MAX_STALENESS, postgresDatabase } from './postgres.ts'

const HOST = { kind: 'host', id: 'host:0' } as const

/** A test, or the hooks of a whole file. */
export interface Cleanup {
  after(work: () => void | Promise<void>): void
}

const folders: string[] = []
process.once('exit', () => {
  for (const dir of folders) rmSync(dir, { recursive: true, force: true })
})

/** A folder that is gone when the tests of this file are done: after every service on it has stopped. */
export function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'gate-sidecar-'))
  folders.push(dir)
  return dir
}

/** Writes files by relative path. */
export function writeFiles(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

/** A tenant whose policy covers what most tests need. */
export const ACME_POLICY = `
apiVersion: gate-sidecar/v1
tenant: acme
domains: {finance: ["payment.*"], communication: ["email.*"]}
facts: {context.amount: {type: number}}
actions:
  payment.transfer: {context: {type: object, required: [amount], properties: {amount: {type: number}}}}
risk:
  - {name: amount, actions: ["payment.*"], weight: 30, scale: {fact: context.amount, from: 0, to: 10000}}
rules:
  - {id: huge, actions: ["payment.*"], effect: deny, reason: Too much., when: {fact: context.amount, operator: greaterThan, value: 100000}}
  - {id: large, actions: ["payment.*"], effect: require_approval, reason: Large payments need a person., when: {fact: context.amount, operator: greaterThan, value: 1000}}
  - {id: payments, actions: ["payment.*"], effect: allow, reason: Payments within limits.}
  - {id: mail, actions: ["email.*"], effect: allow, reason: Mail is fine.}
`

export interface KeyOptions {
  tenant?: string
  roles?: Role[]
  environment?: 'live' | 'test'
  identity?: string
  name?: string
  groups?: string[]
}

export interface Answer {
  status: number
  headers: Headers
  /** The parsed envelope; of a facade what its protocol has, as a text where that is no JSON. Tests read it as they know it to be. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted member by member
  body: any
}

export interface Gate {
  server: RunningServer
  dir: string
  /** Makes a key through the same action as the command line; the tenant too. */
  key(options?: KeyOptions): Promise<{ id: string; secret: string; tenant: string }>
  /** Sends JSON with a key's credentials over the socket. */
  call(
    key: { secret: string; tenant: string },
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
}

export interface GateOptions {
  policies?: Readonly<Record<string, string>>
  clock?: Clock
  direct?: boolean
  log?: Logger
  /** `off`: folders are read when asked. */
  watch?: 'on' | 'off'
  /** `own`: policies are parsed and entries written in threads, as in production; from source each takes a second to start. */
  threads?: 'own' | ServerOptions['threads']
  /** Further settings, as flags give them. */
  settings?: ConfigSources['flags']
  /** An existing folder from an earlier gate. */
  dir?: string
}

const compiled = boundedCache<ReturnType<typeof compileAndTest>>(10)

/** Most services of the tests have the same policies. */
function compileOnce(source: PolicySource): ReturnType<typeof compileAndTest> {
  const key = serialize(source).toString('latin1')
  const known = compiled.get(key) ?? compileAndTest(source)
  compiled.put(key, known)
  return known
}

/** A data file without a tenant: its tables take longer to make than to copy. */
const emptyFile = once((): string => {
  const dir = temporaryFolder()
  openDatabase(dir, { create: true }).close()
  return join(dir, DATA_FILE)
})

function makeDataFile(dir: string): void {
  mkdirSync(dir, { mode: 0o700 })
  copyFileSync(emptyFile(), join(dir, DATA_FILE))
}

/** Does everything where it is called. */
export const inThisThread: Required<NonNullable<ServerOptions['threads']>> = {
  policyWorker: {
    listFiles: async (files) => ({ value: listFilesOf(files) }),
    compile: async (source) => ({ value: compilePolicySet(source) }),
    compileDraft: async (source) => ({ value: compilePolicySet(source) }),
    compileAndTest: async (source) => ({ value: await compileOnce(source) }),
    validate: async (source) => ({ value: validatePolicySet(source) }),
    judge: async (question) => ({ value: await draftVerdict(question) }),
    close: () => undefined,
  },
  examine: examineHere,
  openDraft: openDraftHere,
  writer: writeHere,
  verifier: verifyHere,
}

/** The store of a service's folder as another process opens it that holds the log key. */
export async function openBeside(dir: string, clock: Clock = Date.now): Promise<Store> {
  const data = join(dir, 'data')
  if (!existsSync(join(dir, 'store'))) return openFile(data, clock)
  const config = readConfig({ flags: { data, ...storedSettings(dir) }, env: {}, file: undefined })
  return openConfigured(config, { create: true, clock, sealKeys: sealKeysAt(join(data, 'signing-key.pem')) })
}

/** The store of a data file as another process opens it that holds the log key. */
export function openFile(dir: string, clock: Clock = Date.now): Store {
  return openStore({ dir, create: true, clock, sealKeys: sealKeysAt(join(dir, 'signing-key.pem')) })
}

/** Engine of the stores of tests: the data file, or a database of a server. */
const ENGINE = process.env.GATE_TEST_STORE ?? 'file'

/** A test of what only a data file has, or that alters one. */
export const fileTest: typeof test.skip = ENGINE === 'file' ? test : test.skip

type StoreSettings = Record<'store' | 'storePassword' | 'maxStaleness', string>

/** Settings of the store that belongs to a folder, which is the same for each service on it. */
async function storeSettings(t: Cleanup, dir: string): Promise<Partial<StoreSettings>> {
  if (ENGINE !== 'postgres') return {}
  const storePassword = join(dir, 'store-password')
  const at = join(dir, 'store')
  if (!existsSync(at)) {
    const url = new URL(await postgresDatabase(t))
    writeFileSync(storePassword, url.password, { mode: 0o600 })
    url.password = ''
    writeFileSync(at, url.href)
  }
  return storedSettings(dir)
}

function storedSettings(dir: string): StoreSettings {
  const store = readFileSync(join(dir, 'store'), 'utf8')
  return { store, storePassword: join(dir, 'store-password'), maxStaleness: MAX_STALENESS }
}

/** The real service on a free port, with its file and policies in a temporary folder. */
export async function startGate(t: Cleanup, options: GateOptions = {}): Promise<Gate> {
  const dir = options.dir ?? temporaryFolder()
  const [data, policies] = [join(dir, 'data'), join(dir, 'policies')]
  if (!existsSync(data)) makeDataFile(data)
  mkdirSync(policies, { recursive: true })
  writeFiles(policies, options.policies ?? { 'acme/main.yaml': ACME_POLICY })
  const flags = {
    data,
    policies,
    port: '0',
    watch: options.watch ?? 'on',
    sweep: 'off',
    ...(await storeSettings(t, dir)),
    ...options.settings,
  }
  const config = readConfig({ flags, env: {}, file: undefined })
  const clock = options.clock ?? Date.now
  const server = await startServer({
    config,
    log: options.log ?? createLogger('silent'),
    clock,
    direct: options.direct ?? true,
    ...(options.threads !== 'own' && { threads: options.threads ?? inThisThread }),
  })
  let open = true
  const close = async (): Promise<KillSwitch[]> => {
    const lost = open ? await server.close() : []
    open = false
    return lost
  }
  t.after(async () => void (await close()))
  const deps = { store: server.store, clock, newId: idMaker(clock, randomBytes) }
  return {
    server: { ...server, close },
    dir,
    async key(keyOptions = {}) {
      const { tenant = 'acme', roles = ['owner'], environment = 'live', ...rest }: KeyOptions = keyOptions
      await ensureTenant(deps, HOST, tenant)
      // An admin key belongs to no tenant; `tenant` is the one that it names.
      const owner = roles.includes('admin') ? null : tenant
      const made = await createKey(deps, { actor: HOST, caller: undefined }, owner, { roles, environment, ...rest })
      return { id: made.id, secret: made.key, tenant }
    },
    async call(key, method, path, body, headers = {}) {
      const response = await fetch(server.url + path, {
        method,
        headers: {
          'x-api-key': key.secret,
          'x-tenant-id': key.tenant,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const isJson = response.headers.get('content-type')?.includes('json')
      const answered = isJson ? await response.json() : await response.text()
      return { status: response.status, headers: response.headers, body: answered }
    },
  }
}
