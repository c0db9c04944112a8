import type { Json } from '../../base/json.ts'
import { lru } from '../../base/memo.ts'
import { parseDuration } from '../../base/time.ts'
import { ANY, isPlural, parseFactPath } from '../../policies/path.ts'
import type { ApprovalTerms, PolicyData } from '../../policies/set.ts'
import type { Report } from '../diagnostics/report.ts'
import { closest, synonyms } from '../suggest/closest.ts'
import { durationIn } from '../suggest/meant.ts'
import { itemsOf, memberOf, type Node, numberOf, textOf } from '../yaml/node.ts'
import { BUILT_IN_FACTS, meantFact, REQUEST_ROOTS } from './fact-names.ts'
import { readReason } from './reason.ts'

/** Keys that apply to the whole set, and may therefore stand in one file only. */
export const SETTINGS = ['defaults', 'thresholds', 'timezone', 'approval', 'mode', 'explain', 'session'] as const
export type Setting = (typeof SETTINGS)[number]

export const DEFAULT_TERMS: ApprovalTerms = {
  quorum: 1,
  expiresInMs: 30 * 60_000,
  selfApproval: false,
  approvers: [],
  unbound: [],
}
export const DEFAULT_THRESHOLDS = { requireApproval: 40, deny: 80 }
export const DEFAULT_REASON = 'No rule allows this action.'
export const DEFAULT_TIMEZONE = 'UTC'
export const DEFAULT_MODE = 'enforce'
export const DEFAULT_RULE_MODE = 'enforce'
export const DEFAULT_EXPLAIN = 'full'

/** Describes the form of a duration. */
export const DURATION_SENTENCE = 'A duration is an integer and s, m, h or d, from 1s to 90d.'

/** Settings of a set, with defaults for those left out. */
export type Settings = Pick<PolicyData, 'defaults' | 'thresholds' | 'timezone' | 'approval' | 'mode' | 'explain'>

/** Reads the settings; reports only faults that their shapes, checked before, cannot express. */
export function readSettings(nodes: ReadonlyMap<Setting, Node>, report: Report): Settings {
  const defaults = nodes.get('defaults')
  return {
    defaults: {
      decision: textOf(memberOf(defaults, 'decision')) === 'require_approval' ? 'require_approval' : 'deny',
      reason: (defaults && readReason(defaults, report)) ?? DEFAULT_REASON,
    },
    thresholds: readThresholds(nodes.get('thresholds'), report),
    timezone: readTimezone(nodes.get('timezone'), report),
    approval: readTerms(nodes.get('approval'), DEFAULT_TERMS, report),
    mode: textOf(nodes.get('mode')) === 'observe' ? 'observe' : DEFAULT_MODE,
    explain: textOf(nodes.get('explain')) === 'reason' ? 'reason' : DEFAULT_EXPLAIN,
  }
}

/** Checks that a file names the tenant of its folder. */
export function checkTenant(root: Node, tenant: string, report: Report): void {
  const node = memberOf(root, 'tenant')
  const name = textOf(node)
  if (node === undefined || name === undefined || name === tenant) return
  report.add(
    'GATE1110',
    node,
    `The tenant is ${JSON.stringify(name)}, but the folder is called ${JSON.stringify(tenant)}; a file says the tenant of its folder.`,
    tenant,
  )
}

function readThresholds(node: Node | undefined, report: Report): PolicyData['thresholds'] {
  const written = { requireApproval: memberOf(node, 'requireApproval'), deny: memberOf(node, 'deny') }
  const requireApproval = numberOf(written.requireApproval) ?? DEFAULT_THRESHOLDS.requireApproval
  const deny = numberOf(written.deny) ?? DEFAULT_THRESHOLDS.deny
  const place = written.requireApproval ?? written.deny
  // A value that is not a score has a fault of its own, and gives no order.
  const areScores = Object.values(written).every((one) => one === undefined || isScore(one.value))
  if (requireApproval > deny && areScores && place !== undefined) {
    const shown = (score: number, at: Node | undefined) => (at === undefined ? `the default ${score}` : `${score}`)
    const [lower, upper] = [shown(requireApproval, written.requireApproval), shown(deny, written.deny)]
    const message = `requireApproval (${lower}) must not be above deny (${upper}): what is denied needs no approval.`
    report.add('GATE1310', place, message)
  }
  return { requireApproval, deny }
}

function isScore(value: Json): boolean {
  return typeof value === 'number' && value >= 0 && value <= 100
}

function readTimezone(node: Node | undefined, report: Report): string {
  const name = textOf(node)
  if (node === undefined || name === undefined) return DEFAULT_TIMEZONE
  if (isTimezone(name)) return name
  report.add(
    'GATE1117',
    node,
    `There is no time zone ${JSON.stringify(name.slice(0, 100))}; zones are called like Europe/Berlin or UTC.`,
    meantTimezone(name),
  )
  return DEFAULT_TIMEZONE
}

/** Offsets such as +02:00 are refused: they have no daylight saving time. Node.js takes a millisecond to find a zone. */
const isTimezone = lru(20, (name: string): boolean => {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
})

/** Names of daylight saving times and cities, by zone. */
const ZONE_WORDS = synonyms({
  UTC: 'z zulu utc+0 utc+00:00 gmt+0 gmt+00:00 utc0 +00:00 00:00 universal',
  'Europe/Berlin': 'cest mesz mez germany',
  'Europe/London': 'bst uk england',
  'America/New_York': 'edt eastern easterntime us/eastern',
  'America/Chicago': 'cdt central centraltime us/central',
  'America/Denver': 'mdt mountain mountaintime',
  'America/Los_Angeles': 'pdt pacific pacifictime us/pacific',
  'Asia/Kolkata': 'ist india',
  'Asia/Shanghai': 'beijing',
})

function meantTimezone(name: string): string | undefined {
  const [, sign, hours] = /^(?:UTC|GMT)?\s*([+-])0?(\d{1,2})(?::?00)?$/i.exec(name.trim()) ?? []
  // The names of fixed offsets count the other way round (POSIX): Etc/GMT-2 is two hours ahead of UTC.
  const fixed = Number(hours) === 0 ? 'UTC' : `Etc/GMT${sign === '+' ? '-' : '+'}${hours}`
  if (hours !== undefined) return isTimezone(fixed) ? fixed : undefined
  const known = Intl.supportedValuesOf('timeZone')
  const city = new Map(known.map((zone) => [zone.slice(zone.lastIndexOf('/') + 1), zone]))
  const near = closest(name, [...known, 'UTC'], ZONE_WORDS)
  return near ?? city.get(closest(name, city.keys()) ?? '')
}

/** Approval terms over `base`, key by key. */
export function readTerms(node: Node | undefined, base: ApprovalTerms, report: Report): ApprovalTerms {
  const expiresIn = memberOf(node, 'expiresIn')
  const approvers = memberOf(node, 'approvers')
  const selfApproval = memberOf(node, 'selfApproval')?.value
  return {
    quorum: numberOf(memberOf(node, 'quorum')) ?? base.quorum,
    expiresInMs: (expiresIn && readDuration(expiresIn, report)) ?? base.expiresInMs,
    selfApproval: typeof selfApproval === 'boolean' ? selfApproval : base.selfApproval,
    approvers: approvers === undefined ? base.approvers : [itemsOf(approvers).flatMap((item) => textOf(item) ?? [])],
    unbound: readUnbound(memberOf(node, 'unbound'), report) ?? base.unbound,
  }
}

export function readDuration(node: Node, report: Report): number | undefined {
  const text = textOf(node)
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms !== undefined) return ms
  return report.add('GATE1116', node, DURATION_SENTENCE, durationIn(text))
}

function readUnbound(node: Node | undefined, report: Report): string[] | undefined {
  if (node?.items === undefined) return undefined
  return node.items.flatMap((item) => {
    const text = textOf(item)
    if (text === undefined) return []
    const path = parseFactPath(text)
    const isOne = path !== undefined && !isPlural(path)
    if (isOne && REQUEST_ROOTS.has(path.root) && path.segments.length > 0) return [path.text]
    const isBuiltIn = BUILT_IN_FACTS.has(text)
    const suggestion = isBuiltIn || path?.segments.includes(ANY) === true ? undefined : meantFact(text, [], true)
    if (path === undefined) {
      report.add('GATE1204', item, 'This is not a path; write context.name or plan.name.', suggestion)
    } else {
      const message = `${path.text} cannot be left unbound; only paths under context and plan can, without *.`
      report.add('GATE1214', item, message, suggestion)
    }
    return []
  })
}
