import { readFileSync } from 'node:fs'
import { GateError } from '../base/errors.ts'
import { isJsonObject, type Json, type JsonObject, parseJson } from '../base/json.ts'
import {
  durationOrOff,
  hostNames,
  oneOf,
  optionalCount,
  optionalHttpUrl,
  optionalPostgresUrl,
  optionalText,
  port,
  type Shape,
  text,
} from '../base/value-shape.ts'
import { CALLER_VARIABLES } from '../base/variables.ts'
import { isServiceLink } from './service-links.ts'

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const ON_OFF = ['on', 'off'] as const
export type OnOff = (typeof ON_OFF)[number]

/** A fault in a flag, an environment variable or the configuration file. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export interface Setting<T> {
  /** Placeholder of the value in the help of the flag. */
  placeholder: string
  default: T
  /** Value other than the default, as the file has it. */
  example: T
  help: string
  shape: Shape<T>
}

/** Settings by their name in the file. The names of flag and variable follow from it; the row has the rest. */
export const SETTINGS = {
  data: {
    placeholder: 'dir',
    default: './data',
    example: '/var/lib/gate-sidecar',
    help: 'folder of the data file; beside a store, of the signing key and of stops that wait for it',
    shape: text,
  },
  store: {
    placeholder: 'url',
    default: null as string | null,
    example: 'postgres://gate@db.internal/gate',
    help: 'PostgreSQL database that keeps everything for many sidecars, without a password; if not set, the data file does',
    shape: optionalPostgresUrl,
  },
  storePassword: {
    placeholder: 'file',
    default: null as string | null,
    example: '/run/secrets/store-password',
    help: 'file of the password for store',
    shape: optionalText,
  },
  policies: {
    placeholder: 'dir',
    default: './policies',
    example: '/etc/gate-sidecar/policies',
    help: 'folder of the policies, one folder a tenant',
    shape: text,
  },
  host: {
    placeholder: 'address',
    default: '127.0.0.1',
    example: '0.0.0.0',
    help: 'address to listen on',
    shape: text,
  },
  port: {
    placeholder: 'number',
    default: 4283,
    example: 8080,
    help: 'port to listen on, at most 65535; 0 takes a free one',
    shape: port,
  },
  socket: {
    placeholder: 'path',
    default: null as string | null,
    example: '/run/gate-sidecar.sock',
    help: 'Unix socket to listen on, in place of host and port',
    shape: optionalText,
  },
  allowedHosts: {
    placeholder: 'names',
    default: [] as string[],
    example: ['gate.internal'],
    help: 'additional host names accepted in the Host header, without port',
    shape: hostNames,
  },
  maxConnections: {
    placeholder: 'number',
    default: null as number | null,
    example: 500,
    help: 'connections kept open, at least 16; beyond them, the longest idle one is closed. If not set, as many as the limit of open files allows, at most 10,000',
    shape: optionalCount(16),
  },
  signingKey: {
    placeholder: 'file',
    default: null as string | null,
    example: '/run/secrets/signing-key.pem',
    help: 'file of the key that signs evidence; signing-key.pem in the data folder if not set',
    shape: optionalText,
  },
  anchorFile: {
    placeholder: 'file',
    default: null as string | null,
    example: '/mnt/anchors/gate-sidecar.jsonl',
    help: 'file that checkpoints are appended to, on another volume or of another user',
    shape: optionalText,
  },
  anchorUrl: {
    placeholder: 'url',
    default: null as string | null,
    example: 'https://siem.example/hooks/gate',
    help: 'http or https address that checkpoints are posted to; needs anchorSecret',
    shape: optionalHttpUrl,
  },
  anchorSecret: {
    placeholder: 'file',
    default: null as string | null,
    example: '/run/secrets/anchor-secret',
    help: 'file of the secret (whsec_…) that signs what is posted to anchorUrl',
    shape: optionalText,
  },
  watch: {
    placeholder: 'on|off',
    default: 'on' as OnOff,
    example: 'off',
    help: 'on: policies are read twice a second; off: at the start, on SIGHUP and when asked over HTTP',
    shape: oneOf(ON_OFF),
  },
  sweep: {
    placeholder: 'on|off',
    default: 'on' as OnOff,
    example: 'off',
    help: 'on: all audit chains are verified after the start and each night; off: only when asked',
    shape: oneOf(ON_OFF),
  },
  outcomeWithin: {
    placeholder: 'duration',
    default: '15m',
    example: '2h',
    help: 'time to wait for the outcome of an allowed action, for agents that report outcomes: 1s to 24h; off: no outcome counts as missing',
    shape: durationOrOff,
  },
  stopDelay: {
    placeholder: 'duration',
    default: '1s',
    example: '15s',
    help: 'time to keep serving after SIGTERM while /readyz says that the service stops, so that requests go elsewhere: 1s to 24h; off: it stops at once',
    shape: durationOrOff,
  },
  logLevel: {
    placeholder: 'level',
    default: 'info' as LogLevel,
    example: 'warn',
    help: LOG_LEVELS.join(', '),
    shape: oneOf(LOG_LEVELS),
  },
} as const satisfies Record<string, Setting<unknown>>

export type SettingName = keyof typeof SETTINGS
type ValueOf<S> = S extends Shape<infer T> ? T : never
export type Config = { [K in SettingName]: ValueOf<(typeof SETTINGS)[K]['shape']> }

/** Source of a value; `name` is the flag, the variable, or `FILE: member`. */
export type Origin = { kind: 'flag' | 'variable' | 'file'; name: string } | { kind: 'default' }

export type SettingsInForce = { [K in SettingName]: { value: Config[K]; origin: Origin } }

export const SETTING_NAMES: readonly SettingName[] = Object.keys(SETTINGS) as SettingName[]

/** Name of the flag: `--allowed-hosts` for `allowedHosts`. */
export function flagOf(name: SettingName): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

const ENV_PREFIX = 'GATE_SIDECAR_'

/** Name of the environment variable: `GATE_SIDECAR_ALLOWED_HOSTS` for `allowedHosts`. */
export function envOf(name: SettingName): string {
  return ENV_PREFIX + name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
}

export interface ConfigSources {
  /** Values given on the command line, by setting. */
  flags: Partial<Record<SettingName, string | undefined>>
  env: Readonly<Record<string, string | undefined>>
  /** Path of a JSON file. */
  file: string | undefined
}

/**
 * Settings in force: flags over environment over file over defaults.
 *
 * @throws ConfigError for an invalid value or an unknown name, naming the source and the setting
 */
export function readConfig(sources: ConfigSources): Config {
  const inForce = Object.entries(readSettings(sources)).map(([name, { value }]) => [name, value])
  // Each member comes from its own row of the table.
  return Object.fromEntries(inForce) as Config
}

/** Settings in force, each with its source. @throws ConfigError as readConfig */
export function readSettings({ flags, env: variables, file }: ConfigSources): SettingsInForce {
  const fromFile = file === undefined ? {} : readConfigFile(file)
  const env = Object.fromEntries(Object.entries(variables).filter(([name, value]) => !isServiceLink(name, value)))
  assertKnown(env)
  const inForce = SETTING_NAMES.map((name) => {
    const setting: Setting<unknown> = SETTINGS[name]
    const sources: { given: Json | undefined; origin: Exclude<Origin, { kind: 'default' }> }[] = [
      { given: flags[name], origin: { kind: 'flag', name: flagOf(name) } },
      { given: env[envOf(name)], origin: { kind: 'variable', name: envOf(name) } },
      { given: fromFile[name], origin: { kind: 'file', name: `${file}: ${name}` } },
    ]
    const found = sources.find(({ given }) => given !== undefined)
    if (found?.given === undefined) return [name, { value: setting.default, origin: { kind: 'default' } }]
    const { given, origin } = found
    const value = setting.shape.read(origin.kind === 'file' ? given : setting.shape.fromText(String(given)))
    if (value === undefined)
      throw new ConfigError(`${origin.name}: ${JSON.stringify(given)} is not accepted (${setting.help}).`)
    return [name, { value, origin }]
  })
  // Each member comes from its own row of the table.
  return Object.fromEntries(inForce) as SettingsInForce
}

/** Member in which editors record the location of the schema. */
export const SCHEMA_MEMBER = '$schema'

function readConfigFile(path: string): JsonObject {
  let content: Json
  try {
    content = parseJson(readFileSync(path), { maxDepth: 4 })
  } catch (cause) {
    const why = cause instanceof GateError ? cause.message : 'it cannot be read.'
    throw new ConfigError(`${path}: ${why}`, { cause })
  }
  if (!isJsonObject(content)) throw new ConfigError(`${path}: the file must hold a JSON object.`)
  const { [SCHEMA_MEMBER]: schema = '', ...settings } = content
  if (typeof schema !== 'string') throw new ConfigError(`${path}: ${SCHEMA_MEMBER} must be a text.`)
  const unknown = Object.keys(settings).find((name) => !Object.hasOwn(SETTINGS, name))
  if (unknown !== undefined)
    throw new ConfigError(`${path}: ${unknown} is not a setting; there are ${SETTING_NAMES.join(', ')}.`)
  return settings
}

/** Refuses unknown variables: a misspelt one would be ignored, and the service run with an unintended default. */
function assertKnown(env: ConfigSources['env']): void {
  const known: string[] = [...SETTING_NAMES.map(envOf), ...CALLER_VARIABLES]
  const unknown = Object.keys(env).find((name) => name.startsWith(ENV_PREFIX) && !known.includes(name))
  if (unknown !== undefined) throw new ConfigError(`${unknown} is not a setting; there are ${known.join(', ')}.`)
}
