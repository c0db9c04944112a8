import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { DCLinter } from 'dclint'
import { envOf } from '../../src/service/config.ts'
import { BIN } from '../cli/program.ts'
import { fleet } from '../fleet/fleet.ts'
import { temporaryFolder } from '../helpers.ts'
import { fullTest } from '../tier.ts'
import { DEPLOY, deployed, documentsIn, type Yaml } from './deploy.ts'

const FOLDER = join(DEPLOY, 'compose')
const [COMPOSE] = documentsIn(deployed('compose/compose.yaml'))
const SERVICES: [string, Yaml][] = Object.entries(COMPOSE.services)
const run = promisify(execFile)

test('the file follows the schema of Compose', async () => {
  const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] })
  const [result] = await linter.lintFiles([join(FOLDER, 'compose.yaml')], false)
  // Warnings are about the order of keys.
  assert.deepEqual(
    result?.messages.filter(({ type }: { type: string }) => type === 'error'),
    [],
  )
})

for (const [name, service] of SERVICES) {
  test(`${name} runs as no root, without capabilities, on a root that it cannot write`, () => {
    assert.match(service.user, /^\$\{GATE_UID:\?/)
    assert.equal(service.read_only, true)
    assert.deepEqual(service.cap_drop, ['ALL'])
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'])
    assert.equal(service.privileged ?? service.cap_add ?? service.network_mode ?? service.pid, undefined)
  })

  test(`${name} has each secret that it reads, and no other; none is in its environment`, () => {
    const read = Object.values<string>(service.environment ?? {}).filter((value) => value.startsWith('/run/secrets/'))
    const names = read.map((path) => path.slice('/run/secrets/'.length))
    const wanted = name === 'roles' ? ['admin-password', 'sidecar-password'] : names
    assert.deepEqual((service.secrets ?? []).toSorted(), wanted.toSorted())
    for (const secret of service.secrets ?? []) assert.ok(secret in COMPOSE.secrets)
  })
}

test('the administrator of the database is unknown to the sidecars and the agent', () => {
  const holders = SERVICES.filter(([, { secrets = [] }]) => secrets.includes('admin-password')).map(([name]) => name)
  assert.deepEqual(holders, ['postgres', 'migrate', 'roles'])
})

test('sidecars start after the schema and the roles, and their ports are on loopback', () => {
  for (const name of ['sidecar-a', 'sidecar-b']) {
    const { depends_on, ports, environment } = COMPOSE.services[name]
    assert.deepEqual(depends_on, { roles: { condition: 'service_completed_successfully' } })
    assert.match(ports.join(), /^127\.0\.0\.1:\d+:4283$/)
    assert.equal(environment.GATE_SIDECAR_ALLOWED_HOSTS, name)
  }
  assert.deepEqual(COMPOSE.services.roles.depends_on, { migrate: { condition: 'service_completed_successfully' } })
})

/** The commands of README.md, by heading. */
function blocks(): Map<string, string> {
  const sections = deployed('compose/README.md').split(/^## /m)
  return new Map(
    sections.flatMap((section) => {
      const block = /```sh\n([\s\S]*?)```/.exec(section)?.[1]
      return block === undefined ? [] : [[section.split('\n')[0] ?? '', block]]
    }),
  )
}

/** Two sidecars with the policy of the folder, and the log key that was made for them. */
async function sidecars(t: TestContext) {
  const { serve, flags, signingKey } = await fleet(t)
  mkdirSync(dirname(signingKey), { mode: 0o700 })
  const { privateKey } = generateKeyPairSync('ed25519')
  writeFileSync(signingKey, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  const policies = ['--policies', join(FOLDER, 'policies')]
  const [a, b] = await Promise.all([serve(...policies), serve(...policies)])
  return { flags, signingKey, urls: [a.url, b.url] as const }
}

/** Runs commands of the page against sidecars that run without containers. */
async function typed(t: TestContext, headings: readonly string[]) {
  const { flags, signingKey, urls } = await sidecars(t)
  const here = temporaryFolder()
  mkdirSync(join(here, 'secrets'))
  const commands = headings.map((heading) => blocks().get(heading) ?? assert.fail(`README.md has no ${heading}`))
  const [a, b] = urls.map((url) => new URL(url).port)
  const script = commands.join('\n').replaceAll('call 4283', `call ${a}`).replaceAll('call 4284', `call ${b}`)
  // As the containers have them.
  const [, store = '', , storePassword = ''] = flags
  const settings = { store, storePassword, signingKey, data: join(here, 'data') } as const
  const named = Object.entries(settings).map(([name, value]) => [envOf(name as keyof typeof settings), value])
  const docker = `docker() { [ "$1 $2" = "compose exec" ] && shift 5 && "${process.execPath}" "${BIN}" "$@"; }`
  const { stdout } = await run('bash', ['-euc', `${docker}\n${script}`], {
    cwd: here,
    env: { PATH: process.env.PATH, ...Object.fromEntries(named) },
  })
  return { stdout, here, urls }
}

/** The first six lines of the agent, each an action that it asked about. */
async function agentLines(t: TestContext, key: string, sidecars: readonly string[]): Promise<string[]> {
  const { AGENT_TENANT } = COMPOSE.services.agent.environment
  const env = { AGENT_TENANT, AGENT_KEY: key, AGENT_SIDECARS: sidecars.join(' ') }
  const agent = spawn(process.execPath, [join(FOLDER, 'agent.mjs')], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => void agent.kill())
  const lines: string[] = []
  for await (const line of createInterface({ input: agent.stdout })) if (lines.push(line) === 6) break
  return lines
}

fullTest('the first ten minutes pass as README.md tells', async (t) => {
  const headings = [
    'Keys',
    'First check',
    'A stop on A denies at B',
    'An approval asked at A and voted at B',
    'The trail',
  ]
  const { stdout, here, urls } = await typed(t, headings)
  const told = [...stdout.matchAll(/"(?:decision|status|active)":"?(\w+)/g)].map(([, word]) => word)
  assert.deepEqual(told, ['allow', 'true', 'deny', 'false', 'approved', 'allow'], stdout)
  assert.match(stdout, /acme\/live .* entries/)

  await t.test('the agent asks both sidecars', async (t) => {
    const lines = await agentLines(t, join(here, 'secrets/agent-key'), urls)
    const decided = lines.map((line) => /: (\w+)/.exec(line)?.[1])
    const each = ['allow', 'allow', 'require_approval']
    assert.deepEqual(decided, [...each, ...each], lines.join('\n'))
  })

  await t.test('an agent that reaches no sidecar, or gets no decision, does not act', async (t) => {
    const key = join(here, 'secrets/unknown-key')
    writeFileSync(key, 'sk_live_unknown')
    for (const line of await agentLines(t, key, [urls[0], 'http://127.0.0.1:9'])) assert.match(line, /: deny /)
  })
})
