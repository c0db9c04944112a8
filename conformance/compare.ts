import type { Diagnostic } from '../src/authoring/diagnostics/diagnostics.ts'
import { loadPolicySet } from '../src/authoring/load/load.ts'
import type { JsonObject } from '../src/base/json.ts'
import { NO_HISTORY } from '../src/gate/history.ts'
import { judge } from '../src/gate/judge.ts'
import type { PolicySet } from '../src/policies/set.ts'
import { type Decided, inTheirWords } from './answers.ts'
import { ACTION, policyYaml } from './policy-yaml.ts'
import type { AgtAnswer, Recorded, Table } from './table.ts'
import { type Refusal, type Translation, translate } from './translate.ts'

/** A translated policy, loaded. */
export interface Loaded {
  readonly translation: Translation
  readonly yaml: string
  /** Undefined when there are errors. */
  readonly set: PolicySet | undefined
  readonly diagnostics: readonly Diagnostic[]
}

/** An input whose answer is not the recorded one. */
export interface Difference {
  readonly id: string
  readonly expected: AgtAnswer
  /** Undefined when the input cannot be asked. */
  readonly ours: AgtAnswer | undefined
  /** Why our language answers otherwise on purpose; undefined for a disagreement. */
  readonly refused: string | undefined
}

export interface Result {
  readonly policy: string
  readonly rules: number
  readonly inputs: number
  readonly agreed: number
  readonly differences: readonly Difference[]
  /** Rules that are not said, with the reason. */
  readonly refusals: readonly Refusal[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Asks what a translated policy decides about an input. */
export type Ask = (loaded: Loaded, input: JsonObject) => Promise<Decided>

/** Translates every policy and loads it, each for a tenant of its own. */
export function loadAll({ policies }: Table): Loaded[] {
  const tenants = new Set<string>()
  return policies.map((policy) => {
    const plain =
      policy.id
        .replace(/[^A-Za-z0-9_-]+/g, '-')
        .replace(/^[_-]+/, '')
        .slice(0, 58) || 'policy'
    let tenant = plain
    for (let i = 2; tenants.has(tenant); i++) tenant = `${plain}-${i}`
    tenants.add(tenant)
    return load(translate(policy, tenant))
  })
}

export function load(translation: Translation): Loaded {
  const yaml = policyYaml(translation)
  const files = [{ name: 'main.yaml', bytes: Buffer.from(yaml) }]
  const { set, diagnostics } = loadPolicySet({ tenant: translation.tenant, files, lists: new Map(), ignored: [] })
  return { translation, yaml, set, diagnostics }
}

/** Asks the code of the service that decides, without the service. */
export async function askCode({ set, translation: { tenant } }: Loaded, input: JsonObject): Promise<Decided> {
  const { outcome } = await judge({
    ...{ set, tenant, action: ACTION, context: input, plan: undefined, history: NO_HISTORY },
    ...{ killSwitchReason: undefined, environment: 'live', agent: 'agent', nowMs: 0 },
  })
  return outcome
}

/** Holds the answers to the inputs of one policy against the recorded ones. */
export async function compare(loaded: Loaded, recorded: readonly Recorded[], ask: Ask): Promise<Result> {
  const { policy, refusals } = loaded.translation
  const differences: Difference[] = []
  for (const one of recorded) {
    const difference = await differenceOf(loaded, one, ask)
    if (difference !== undefined) differences.push(difference)
  }
  return {
    policy: policy.id,
    rules: policy.rules.length,
    inputs: recorded.length,
    agreed: recorded.length - differences.length,
    differences,
    refusals,
    diagnostics: loaded.diagnostics,
  }
}

async function differenceOf(
  loaded: Loaded,
  { id, input, unfit, expect }: Recorded,
  ask: Ask,
): Promise<Difference | undefined> {
  if (input === undefined) return { id, expected: expect, ours: undefined, refused: `not sent: ${unfit}` }
  const ours = inTheirWords(await ask(loaded, input), loaded.translation)
  const isSame =
    ours.allowed === expect.allowed &&
    ours.action === expect.action &&
    ours.matched_rule === expect.matched_rule &&
    ours.evaluation_error === expect.evaluation_error
  return isSame ? undefined : { id, expected: expect, ours, refused: refusedBecause(loaded.translation, input, expect) }
}

/** Of the rules that the toolkit asked, those after the one that decided had no say. */
function refusedBecause({ asked }: Translation, input: JsonObject, { matched_rule }: AgtAnswer): string | undefined {
  const decided = asked.findIndex(({ rule }) => rule.name === matched_rule)
  for (const { rule, refuses } of asked.slice(0, decided < 0 ? undefined : decided + 1)) {
    const value = Object.hasOwn(input, rule.field) ? input[rule.field] : undefined
    const reason = value === undefined || value === null ? undefined : refuses(value)
    if (reason !== undefined) return `rule ${rule.name}: ${reason}`
  }
  return undefined
}
