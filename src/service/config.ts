import { readFileSync } from 'node:fs'
import { GateError } from '../base/errors.ts'
import { isJsonObject, type Json, type JsonObject, parseJson } from '../base/json.ts'
import type { Shape } from '../base/value-shape.ts'
import { CALLER_VARIABLES } from '../base/variables.ts'
import { isServiceLink } from './service-links.ts'
import { SETTINGS, type Setting, type SettingName } from './settings.ts'

/** A fault in a flag, an environment variable or the configuration file. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

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
    if (value === undefined) throw new ConfigError(`${origin.name}: ${shown(given)} is not accepted (${setting.help}).`)
    return [name, { value, origin }]
  })
  // Each member comes from its own row of the table.
  return Object.fromEntries(inForce) as SettingsInForce
}

/** The value for a message, without the password of a URL. */
export function shown(given: Json): string {
  return JSON.stringify(given).replace(/(:\/\/[^/@:]*):[^/@]*@/, '$1:…@')
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
