import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { GateError } from './base/errors.ts'
import { isJsonObject, type Json, type JsonObject, parseJson } from './base/json.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** A fault in a flag, an environment variable or the configuration file. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

interface Setting<T> {
  env: string
  default: T
  help: string
  /** The value of a text (flag or variable) or of a member of the file; undefined when it is not one. */
  parse(value: Json): T | undefined
}

const text = (value: Json): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
const optionalText = (value: Json): string | null | undefined => (value === null ? null : text(value))

function port(value: Json): number | undefined {
  const number = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= 65_535 ? number : undefined
}

/** A list, or a text with commas. */
function names(value: Json): string[] | undefined {
  const items = typeof value === 'string' ? value.split(',').map((item) => item.trim()) : value
  if (!Array.isArray(items)) return undefined
  const texts = items.filter((item) => typeof item === 'string' && item !== '')
  return texts.length === items.length ? texts.map((item) => String(item).toLowerCase()) : undefined
}

function logLevel(value: Json): LogLevel | undefined {
  return LOG_LEVELS.find((level) => level === value)
}

/** Every setting, by its name in the file; the flag is `--name`, the rest of the table says the rest. */
export const SETTINGS = {
  data: { env: 'GATE_SIDECAR_DATA', default: './data', help: 'folder of the data file', parse: text },
  policies: {
    env: 'GATE_SIDECAR_POLICIES',
    default: './policies',
    help: 'folder of the policies, one folder a tenant',
    parse: text,
  },
  host: { env: 'GATE_SIDECAR_HOST', default: '127.0.0.1', help: 'address to listen on', parse: text },
  port: { env: 'GATE_SIDECAR_PORT', default: 4283, help: 'port to listen on; 0 takes a free one', parse: port },
  socket: {
    env: 'GATE_SIDECAR_SOCKET',
    default: null as string | null,
    help: 'Unix socket to listen on, in place of host and port',
    parse: optionalText,
  },
  allowedHosts: {
    env: 'GATE_SIDECAR_ALLOWED_HOSTS',
    default: [] as string[],
    help: 'host names, besides those of this machine, that requests may be addressed to',
    parse: names,
  },
  signingKey: {
    env: 'GATE_SIDECAR_SIGNING_KEY',
    default: null as string | null,
    help: 'file of the key that signs evidence; signing-key.pem in the data folder if not set',
    parse: optionalText,
  },
  logLevel: {
    env: 'GATE_SIDECAR_LOG_LEVEL',
    default: 'info' as LogLevel,
    help: LOG_LEVELS.join(', '),
    parse: logLevel,
  },
} as const satisfies Record<string, Setting<unknown>>

export type SettingName = keyof typeof SETTINGS
export type Config = { [K in SettingName]: Exclude<ReturnType<(typeof SETTINGS)[K]['parse']>, undefined> }

export interface ConfigSources {
  /** Values given on the command line, by setting. */
  flags: Partial<Record<SettingName, string | undefined>>
  env: Readonly<Record<string, string | undefined>>
  /** Path of a JSON file. */
  file: string | undefined
}

const ENV_PREFIX = 'GATE_SIDECAR_'

/** The API key that commands call with. A secret: no setting, so that no file and no list of settings ever shows it. */
export const KEY_VARIABLE = 'GATE_SIDECAR_KEY'

/**
 * What Kubernetes (and Docker links) put into each container of a namespace that has a Service called gate-sidecar. They
 * are none of ours, and are left aside in exactly these forms; one of them has the name of a setting.
 */
const SERVICE_LINKS: readonly { name: RegExp; value: RegExp }[] = [
  { name: /^GATE_SIDECAR_SERVICE_HOST$/, value: /./ },
  { name: /^GATE_SIDECAR_SERVICE_PORT(?:_[A-Z0-9_]+)?$/, value: /^\d+$/ },
  { name: /^GATE_SIDECAR_PORT$/, value: /^(?:tcp|udp|sctp):\/\// },
  { name: /^GATE_SIDECAR_PORT_\d+_(?:TCP|UDP|SCTP)$/, value: /^(?:tcp|udp|sctp):\/\// },
  { name: /^GATE_SIDECAR_PORT_\d+_(?:TCP|UDP|SCTP)_(?:PROTO|PORT|ADDR)$/, value: /./ },
]

/**
 * The settings in force: flags over environment over file over defaults.
 *
 * @throws ConfigError naming the source and the setting: a value that is not one, or a name that is none
 */
export function readConfig({ flags, env: given, file }: ConfigSources): Config {
  const fromFile = file === undefined ? {} : readConfigFile(file)
  const env = Object.fromEntries(Object.entries(given).filter(([name, value]) => !isServiceLink(name, value)))
  assertKnown(env)
  const entries = Object.entries(SETTINGS).map(([name, setting]: [string, Setting<unknown>]) => {
    const sources: [string, Json | undefined][] = [
      [`--${name}`, flags[name as SettingName]],
      [setting.env, env[setting.env]],
      [`${file}: ${name}`, fromFile[name]],
    ]
    const source = sources.find(([, value]) => value !== undefined)
    return [name, source === undefined ? setting.default : parseSetting(setting, source)]
  })
  // Each member comes from its own row of the table.
  return Object.fromEntries(entries) as Config
}

/** Where the signing key is, with the default filled in. */
export function signingKeyPath({ data, signingKey }: Config): string {
  return signingKey ?? join(resolve(data), 'signing-key.pem')
}

function parseSetting(setting: Setting<unknown>, [origin, value]: [string, Json | undefined]): unknown {
  const parsed = setting.parse(value ?? null)
  if (parsed === undefined)
    throw new ConfigError(`${origin}: ${JSON.stringify(value)} is not accepted (${setting.help}).`)
  return parsed
}

function readConfigFile(path: string): JsonObject {
  let content: Json
  try {
    content = parseJson(readFileSync(path), { maxDepth: 4 })
  } catch (cause) {
    const why = cause instanceof GateError ? cause.message : 'it cannot be read.'
    throw new ConfigError(`${path}: ${why}`, { cause })
  }
  if (!isJsonObject(content)) throw new ConfigError(`${path}: the file must hold a JSON object.`)
  const unknown = Object.keys(content).find((name) => !Object.hasOwn(SETTINGS, name))
  if (unknown !== undefined)
    throw new ConfigError(`${path}: ${unknown} is not a setting; there are ${Object.keys(SETTINGS).join(', ')}.`)
  return content
}

function isServiceLink(name: string, text = ''): boolean {
  return SERVICE_LINKS.some((link) => link.name.test(name) && link.value.test(text))
}

/** A misspelt variable would be ignored otherwise, and the service run with a default that nobody meant. */
function assertKnown(env: ConfigSources['env']): void {
  const known = [...Object.values(SETTINGS).map((setting) => setting.env as string), KEY_VARIABLE]
  const unknown = Object.keys(env).find((name) => name.startsWith(ENV_PREFIX) && !known.includes(name))
  if (unknown !== undefined) throw new ConfigError(`${unknown} is not a setting; there are ${known.join(', ')}.`)
}
