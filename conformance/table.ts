import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from '#typebox'
import { GateError } from '../src/base/errors.ts'
import { type Json, type JsonObject, parseJson } from '../src/base/json.ts'
import { parserOf } from '../src/base/schema.ts'

/** What a rule, or the default, does: the first two permit, the others refuse. */
export type AgtAction = 'allow' | 'audit' | 'deny' | 'block'

export interface AgtRule {
  readonly name: string
  readonly field: string
  readonly operator: string
  readonly value: Json
  readonly action: AgtAction
  readonly priority: number
}

/** A policy of agent-governance-toolkit, as policies.json has it. */
export interface AgtPolicy {
  readonly id: string
  /** Where it stands in its repository. */
  readonly path: string
  readonly name: string
  readonly defaultAction: AgtAction
  readonly rules: readonly AgtRule[]
}

/** What the toolkit's own evaluator answered. */
export interface AgtAnswer {
  readonly action: string
  readonly allowed: boolean
  readonly matched_rule: string | null
  readonly evaluation_error: boolean
}

export interface Recorded {
  readonly id: string
  readonly policy: string
  /** Undefined when no request can carry it. */
  readonly input: JsonObject | undefined
  /** Why no request can carry the input. */
  readonly unfit: string | undefined
  readonly expect: AgtAnswer
}

export interface Table {
  readonly policies: readonly AgtPolicy[]
  readonly recorded: readonly Recorded[]
}

const ACTIONS: AgtAction[] = ['allow', 'audit', 'deny', 'block']
const Action = Type.Enum(ACTIONS)
const Policies = Type.Record(
  Type.String(),
  Type.Object({
    upstream_path: Type.Optional(Type.String()),
    name: Type.String(),
    default_action: Action,
    rules: Type.Array(
      Type.Object({
        name: Type.String(),
        field: Type.String(),
        operator: Type.Enum(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'not_in', 'contains', 'matches']),
        value: Type.Unsafe<Json>({}),
        action: Action,
        priority: Type.Optional(Type.Integer()),
      }),
    ),
  }),
)
const Line = Type.Object({
  id: Type.String(),
  policy: Type.String(),
  input: Type.Unsafe<JsonObject>({ type: 'object' }),
  expect: Type.Object({
    action: Type.String(),
    allowed: Type.Boolean(),
    matched_rule: Type.Union([Type.String(), Type.Null()]),
    evaluation_error: Type.Boolean(),
  }),
})
const parsePolicies = parserOf(Policies)
const parseLine = parserOf(Line)

/** Reads policies.json and decisions.jsonl of a folder. @throws when they do not have their form, or belong together */
export function readTable(folder: string): Table {
  const policies = parsePolicies(JSON.parse(readFileSync(join(folder, 'policies.json'), 'utf8')))
  const lines = readFileSync(join(folder, 'decisions.jsonl'), 'utf8').split('\n').filter(Boolean)
  const recorded = lines.map(readLine)
  const stray = recorded.find(({ policy }) => !Object.hasOwn(policies, policy))
  if (stray !== undefined) throw new Error(`The decision ${stray.id} is of a policy that is not there: ${stray.policy}`)
  return {
    policies: Object.entries(policies).map(([id, { upstream_path, name, default_action, rules }]) => ({
      id,
      path: upstream_path ?? id,
      name,
      defaultAction: default_action as AgtAction,
      rules: rules.map((rule) => ({ ...rule, action: rule.action as AgtAction, priority: rule.priority ?? 0 })),
    })),
    recorded,
  }
}

function readLine(text: string): Recorded {
  const { id, policy, input, expect } = parseLine(JSON.parse(text))
  const unfit = unfitReason(text)
  return { id, policy, expect, unfit, input: unfit === undefined ? input : undefined }
}

/** Requests are strict JSON: they hold no half of a surrogate pair and no integer that programs round. */
function unfitReason(text: string): string | undefined {
  try {
    parseJson(text, { maxDepth: 32 })
    return undefined
  } catch (error) {
    if (error instanceof GateError) return error.message
    throw error
  }
}
