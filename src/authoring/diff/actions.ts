import { canonicalJson } from '../../base/canonical.ts'
import { type Glob, isActionName } from '../../base/glob.ts'
import { distinctBy } from '../../base/grouped.ts'
import { parseOperator } from '../../policies/decorators.ts'
import type { Leaf, PolicySet } from '../../policies/set.ts'
import { testerOf } from './axes.ts'
import { conditionJson, settingsOf } from './changes.ts'
import { textsFor } from './values.ts'

/** Pairs of patterns of which a common action is sought. */
const MAX_PAIRS = 20_000
/** An action that hardly any pattern names. */
const UNNAMED = 'unnamed.action'

/** Actions that a pair of sets treats differently, one of each kind, and the number of kinds that both treat alike. */
export interface ActionKinds {
  differing: string[]
  same: number
}

/** One action for each combination of rules, factors, domain and schema that some action has. */
export function actionKinds(a: PolicySet, b: PolicySet): ActionKinds {
  const kinds = new Map<string, string>()
  let same = 0
  const settings = [a, b].map((set) => canonicalJson(settingsFor(set)))
  const [aboutOld, aboutNow] = [aboutIn(a), aboutIn(b)]
  const asked = [a, b].flatMap(actionTests)
  for (const action of [...candidates(a, b), UNNAMED]) {
    const [old, now] = [aboutOld(action), aboutNow(action)]
    const key = canonicalJson([old, now, asked.map((test) => test(action))])
    if (kinds.has(key)) continue
    kinds.set(key, action)
    if (settings[0] === settings[1] && canonicalJson(old) === canonicalJson(now)) {
      same += 1
      kinds.set(key, '')
    }
  }
  return { differing: [...kinds.values()].filter((action) => action !== ''), same }
}

/** Comparisons of the action itself. */
function actionLeaves({ rules, factors, evaluator }: PolicySet): Leaf[] {
  const leaves = [...rules, ...factors].flatMap((one) => evaluator.leavesOf(one))
  return distinctBy(
    leaves.filter(({ fact }) => fact.root === 'action'),
    ({ index }) => index,
  )
}

function actionTests(set: PolicySet): ((action: string) => string)[] {
  return actionLeaves(set).map((leaf) => testerOf(set, leaf))
}

/** Settings that are about any action. */
function settingsFor(set: PolicySet) {
  const { mode, timezone, defaults, thresholds, approval, facts, session, history, lists } = settingsOf(set)
  return { mode, timezone, defaults, thresholds, approval, facts, session, history, lists } as never
}

/** Everything that a set says about an action; its schemas are read once. */
function aboutIn(set: PolicySet) {
  const { conditions, evaluator } = set
  const declared = settingsOf(set).actions as never as Record<string, never>
  return (action: string) => {
    const { domain, rules, factors } = evaluator.about(action)
    return {
      domain: domain ?? null,
      rules: rules.map(({ id, effect, reason, terms, condition }) => [
        ...[id, effect, reason, terms as never],
        conditionJson(condition, conditions),
      ]),
      factors: factors.map(({ name, weight, scale, condition }) => [
        ...[name, weight, scale === undefined ? null : [scale.fact.text, scale.from, scale.to]],
        conditionJson(condition, conditions),
      ]),
      schema: declared[action] ?? null,
    }
  }
}

function candidates(a: PolicySet, b: PolicySet): Set<string> {
  const globs = new Map<string, Glob>()
  for (const { rules, factors, domains, actions } of [a, b]) {
    const all = [...[...rules, ...factors].flatMap((one) => one.actions), ...[...domains.values()].flat()]
    for (const glob of all) globs.set(glob.text, glob)
    for (const name of actions.keys()) globs.set(name, { text: name, segments: name.split('.'), exact: true })
  }
  const wild = [...globs.values()].filter(({ exact }) => !exact)
  const compared = [a, b]
    .flatMap(actionLeaves)
    .flatMap(({ operator, wanted }) => [
      ...[wanted].flat().filter((one) => typeof one === 'string'),
      ...textsFor(parseOperator(operator)?.operator.name ?? '', wanted).map(String),
    ])
  const named = [...globs.values()].flatMap((glob) => (glob.exact ? [glob.text] : samplesOf(glob)))
  const names = [...named, ...compared]
  for (const [i, one] of wild.entries())
    for (const other of wild.slice(i + 1, i + 1 + Math.ceil(MAX_PAIRS / wild.length)))
      names.push(...commonOf(one, other))
  return new Set(names.filter(isActionName))
}

/** Actions that a pattern matches: with as little as it takes, and with more. */
function samplesOf({ segments }: Glob): string[] {
  const filled = (many: readonly string[]): string =>
    segments.flatMap((segment) => (segment === '**' ? many : [segment.replaceAll('*', 'x')])).join('.')
  return segments.includes('**')
    ? [filled(['x']), filled(['x', 'y']), filled([])]
    : [filled([]), segments.join('.').replaceAll('*', '')]
}

/** Actions that both patterns match, where segment by segment one is literal, or both begin and end with literals. */
function commonOf(a: Glob, b: Glob): string[] {
  const [long, short] = a.segments.length >= b.segments.length ? [a, b] : [b, a]
  const spread = spreadTo(short.segments, long.segments.length)
  const own = spreadTo(long.segments, long.segments.length)
  if (spread === undefined || own === undefined) return []
  return [own.map((segment, i) => merged(segment, spread[i] ?? '*')).join('.')]
}

/** The segments as so many, `**` standing for as many as it takes. */
function spreadTo(segments: readonly string[], count: number): string[] | undefined {
  const at = segments.indexOf('**')
  if (at < 0) return segments.length === count ? [...segments] : undefined
  const many = count - segments.length + 1
  return many < 0 ? undefined : segments.flatMap((segment, i) => (i === at ? Array<string>(many).fill('*') : [segment]))
}

function merged(a: string, b: string): string {
  if (!a.includes('*')) return a
  if (!b.includes('*')) return b
  const [startA = '', endA = ''] = [a.slice(0, a.indexOf('*')), a.slice(a.lastIndexOf('*') + 1)]
  const [startB = '', endB = ''] = [b.slice(0, b.indexOf('*')), b.slice(b.lastIndexOf('*') + 1)]
  const start = startA.length > startB.length ? startA : startB
  const end = endA.length > endB.length ? endA : endB
  return `${start}${start === '' && end === '' ? 'x' : ''}${end}`
}
