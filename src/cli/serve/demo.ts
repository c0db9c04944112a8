import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Deps } from '../../actions/deps.ts'
import { createKey, tenantKeys } from '../../actions/keys/keys.ts'
import { ensureTenant } from '../../actions/keys/tenants.ts'
import { idMaker } from '../../base/id.ts'
import { isActive } from '../../keys/apikey.ts'
import { CONSOLE_PATH } from '../../keys/console-routes.ts'
import type { Config } from '../../service/config.ts'
import type { RunningServer } from '../../service/server.ts'
import { hostActor } from '../context.ts'
import { coloured } from '../output.ts'
import { shellWord } from '../shell.ts'
import { DEMO_FOLDER } from './demo-folder.ts'

const TENANT = 'demo'
const OWNER = 'demo-owner'

/** References to the two keys in the lines to paste: their secrets, or shell variables that hold them. */
interface DemoKeys {
  agent: string
  owner: string
}

/**
 * The banner of `serve --demo`. In a folder without keys it creates the demo tenant's two, only on a terminal:
 * a key in a log is known to all its readers, and a key that nobody saw is lost.
 * Nothing is created before the service listens, so that a failed start leaves the folder new.
 */
export async function welcome(server: RunningServer, config: Config, isTerminal: boolean): Promise<string> {
  const clock = Date.now
  const deps = { store: server.store, clock, newId: idMaker(clock, randomBytes) }
  if (!existsSync(join(resolve(config.policies), TENANT))) return banner(server.url, config, withoutPolicies(config))
  const curl = curlTo(server.url)
  const isNew = isWithoutKeys(deps)
  if (!isNew || !isTerminal) {
    const lines = [...keysToMake(config, isNew), '', ...linesToPaste(curl, { agent: '$AGENT', owner: '$OWNER' })]
    return banner(server.url, config, [...(isTerminal ? signInLines(server) : []), ...lines])
  }
  const keys = await makeKeys(deps)
  const shown = [
    'Two keys of the tenant demo. They are shown only now, and never stored:',
    `  agent  ${emphasis(keys.agent)}   asks`,
    `  owner  ${emphasis(keys.owner)}   approves, stops, audits, creates keys`,
  ]
  return banner(server.url, config, [...shown, '', ...signInLines(server), ...linesToPaste(curl, keys)])
}

/**
 * True while no key exists. A start that dies between its first key and the end of the banner leaves keys that nobody knows;
 * the next start says how to create others.
 */
function isWithoutKeys({ store }: Deps): boolean {
  const { tenants, keys } = store.state()
  return keys.size === 0 && [...tenants.keys()].every((id) => id === TENANT)
}

async function makeKeys(deps: Deps): Promise<DemoKeys> {
  const actor = hostActor()
  await ensureTenant(deps, actor, TENANT)
  const make = (request: Parameters<typeof createKey>[3]) =>
    createKey(deps, { actor, caller: undefined }, TENANT, { environment: 'live', ...request })
  const agent = await make({ roles: ['agent'], identity: 'demo-agent', name: 'demo agent' })
  const owner = await make({ roles: ['owner'], identity: OWNER, name: 'demo owner' })
  return { agent: agent.key, owner: owner.key }
}

/**
 * A link that signs a browser in as the owner of the demo, if the service has a console and a browser can reach it.
 * Like a key, it is shown on a terminal only.
 */
function signInLines({ url, store, signInCodes }: RunningServer): string[] {
  const owner = tenantKeys({ store }, TENANT).find((key) => key.identity === OWNER && isActive(key, Date.now()))
  if (owner === undefined || url.startsWith('unix:')) return []
  const { code } = signInCodes.make(owner.id)
  return [
    'The web console. This link signs you in as the owner; it works once, within five minutes:',
    `  ${emphasis(`${curlTo(url).base}${CONSOLE_PATH}/#code=${code}`)}`,
    '',
  ]
}

function banner(url: string, config: Config, lines: readonly string[]): string {
  const head = [
    '',
    emphasis(`gate-sidecar decides at ${url}`),
    `  data      ${resolve(config.data)}`,
    `  policies  ${join(resolve(config.policies), TENANT)}`,
    ...(basename(dirname(resolve(config.data))) === DEMO_FOLDER
      ? [`  commands  cd ${DEMO_FOLDER} && npx gate-sidecar approvals list --tenant ${TENANT}`]
      : []),
    ...exposure(url),
    '',
  ]
  return `${[...head, ...lines, '', 'Edit the policies while it runs. Press Ctrl-C to stop it.'].join('\n')}\n\n`
}

/** A warning for services that other machines can reach: keys cross the network as plain text. */
function exposure(url: string): string[] {
  if (url.startsWith('unix:') || /^(?:127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname)) return []
  return [
    '  WARNING   Other machines can reach this service, and the demo keys are real: put TLS in front, or leave out --host.',
  ]
}

function withoutPolicies(config: Config): string[] {
  return [
    `There are no policies for the tenant demo in ${resolve(config.policies)}, so no demo keys are created.`,
    'Copy the folder policies/demo of gate-sidecar there and start again, or leave out --demo.',
  ]
}

/** Two lines that create keys and keep them in shell variables, for users without a terminal or without the keys. */
function keysToMake(config: Config, isNew: boolean): string[] {
  const program = shellWord(resolve(process.argv[1] ?? 'gate-sidecar'))
  const make = (role: string, identity: string): string =>
    `$(${program} keys create --tenant demo --role ${role} --identity ${identity} --data ${shellWord(resolve(config.data))} | head -n 1)`
  return [
    isNew
      ? 'No keys were created, because stderr is not a terminal.'
      : 'This folder already has keys. A key is shown only once, when it is created.',
    `To create ${isNew ? 'them' : 'others'}, paste these two lines first:`,
    '',
    `AGENT=${make('agent', 'demo-agent')}`,
    `OWNER=${make('owner', OWNER)}`,
  ]
}

interface Curl {
  /** The curl command up to the base URL, with the options that reach this server. */
  options: string
  base: string
}

function curlTo(url: string): Curl {
  const options = `curl -sS -w '\\n'`
  if (url.startsWith('unix:')) {
    return {
      options: `${options} --unix-socket ${shellWord(resolve(url.slice('unix:'.length)))}`,
      base: 'http://localhost',
    }
  }
  // A server on every address is reached at the loopback address.
  const base = url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
  // The server accepts any other address as host only if a setting names it.
  const isNamed = ['127.0.0.1', '[::1]'].includes(new URL(base).hostname)
  return { options: isNamed ? options : `${options} -H 'host: localhost'`, base }
}

/** Three requests, each on a line that works alone in bash, zsh and sh. Their comments hold for policies/demo as shipped. */
function linesToPaste({ options, base }: Curl, { agent, owner }: DemoKeys): string[] {
  const as = (key: string): string => `-H "x-api-key: ${key}" -H 'x-tenant-id: demo'`
  const post = (key: string, body: object): string =>
    `${as(key)} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`
  const payment = (tainted: boolean): object => ({
    tenantId: TENANT,
    action: 'send_money',
    context: { args: { recipient: 'GB29NWBK60161331926819', amount: 20 }, tainted },
  })
  const pending = `$(${options} ${as(owner)} "${base}/approvals" | grep -o 'apr_[0-9a-z]*' | tail -n 1)`
  const approval = { approverId: OWNER, comment: 'as agreed' }
  return [
    'Paste these lines into another terminal, one after the other.',
    '',
    '# The agent asks whether it may pay: allow',
    `${options} "${base}/gate/check" ${post(agent, payment(false))}`,
    '',
    '# The same, but the agent has read text that a third party wrote: require_approval',
    `${options} "${base}/gate/check" ${post(agent, payment(true))}`,
    '',
    '# The owner approves it. Then paste the second line again: allow, this once',
    `${options} "${base}/approvals/${pending}/approve" ${post(owner, approval)}`,
  ]
}

function emphasis(text: string): string {
  return coloured('bold', text, process.stderr)
}
