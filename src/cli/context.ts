import { InvalidArgumentError, Option } from 'commander'
import type { Operator } from '../actions/killswitch/killswitch.ts'
import { chainOf } from '../audit/chain.ts'
import type { Actor } from '../audit/draft.ts'
import { ENVIRONMENTS, type Environment } from '../base/environment.ts'
import { GateError } from '../base/errors.ts'
import { type JsonObject, parseJson } from '../base/json.ts'
import { type Config, type ConfigSources, readConfig } from '../service/config.ts'
import { SETTINGS } from '../service/settings.ts'
import type { Io } from './io.ts'

/** The depth limit of a request over HTTP. */
const MAX_JSON_DEPTH = 32

/** Exit codes of every command. Scripts rely on these. */
export const EXIT = { ok: 0, negative: 1, usage: 2, failed: 3 } as const

/** The arguments of a command are invalid, alone or together. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Something that the arguments name is missing or unusable. The message says what to do next. */
export class CannotRun extends Error {
  override readonly name = 'CannotRun'
}

/** Options that every command takes, beside its own. */
export interface CommonOptions {
  /** Set by `runProgram`. */
  io: Io
  data?: string
  policies?: string
  config?: string
  json?: boolean
}

export function environmentOption(): Option {
  return new Option('--environment <name>', 'environment to use').choices(ENVIRONMENTS).default('live')
}

/** A whole number from 1 to `max`. */
export function limitOption(standard: number, max: number): Option {
  const read = (text: string) => (/^[1-9]\d{0,6}$/.test(text) && Number(text) <= max ? Number(text) : undefined)
  const parse = valueParser(read, `A whole number from 1 to ${max}`)
  return new Option('--limit <n>', `number of results, at most ${max}`).argParser(parse).default(standard)
}

/** Parser of an option's value. @param read returns undefined for a value that cannot be used */
export function valueParser<T>(read: (text: string) => T | undefined, expected: string): (text: string) => T {
  return (text) => {
    const value = read(text)
    if (value === undefined) throw new InvalidArgumentError(`${expected} is expected.`)
    return value
  }
}

/** Parser of an option that may be repeated. */
export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value]
}

/** Parser of an option that may be repeated and takes only these values. */
export function collectOneOf(allowed: readonly string[]) {
  return (value: string, earlier?: readonly string[]): string[] => {
    if (!allowed.includes(value)) throw new InvalidArgumentError(`Allowed choices are ${allowed.join(', ')}.`)
    return collect(value, earlier)
  }
}

/** The members that have a value: a request leaves out what no option gives. */
export function given(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

/** The JSON value of an option. @throws UsageError naming the option */
export function objectOf(option: string, text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined
  try {
    // The request's schema checks the rest.
    return parseJson(text, { maxDepth: MAX_JSON_DEPTH }) as JsonObject
  } catch (error) {
    if (error instanceof GateError) throw new UsageError(`${option} is not valid JSON: ${error.message}`)
    throw error
  }
}

/** The settings in force for a command: those of its options that are settings override the others. */
export function configOf(options: CommonOptions): Config {
  return readConfig(sourcesOf(options))
}

export function sourcesOf(options: CommonOptions): ConfigSources {
  // Settings are strings. A command's own flag of the same name is a boolean, and not a setting.
  const settings = Object.entries(options).filter(
    ([name, value]) => Object.hasOwn(SETTINGS, name) && value !== Boolean(value),
  )
  return { flags: Object.fromEntries(settings), env: options.io.env, file: options.config }
}

/** The user of the host who runs the command, as the audit trail records it. */
export function hostActor(): Actor {
  return { kind: 'host', id: `host:${process.getuid?.() ?? 'unknown'}` }
}

export function hostOperator(tenantId: string, environment: Environment): Operator {
  return { actor: hostActor(), tenantId, chain: chainOf(tenantId, environment), admin: true }
}
