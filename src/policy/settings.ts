import { DAY_MS, parseDuration } from '../base/time.ts'
import type { Setting } from './declarations.ts'
import { REQUEST_ROOTS } from './fact-names.ts'
import { itemsOf, memberOf, type Node, numberOf, textOf } from './node.ts'
import { isPlural, parseFactPath } from './path.ts'
import type { Report } from './report.ts'
import type { ApprovalTerms, PolicyData } from './set.ts'
import { closest } from './suggest.ts'

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
export const DEFAULT_EXPLAIN = 'full'

/** What a set says about itself, with everything that it leaves out filled in. */
export type Settings = Pick<PolicyData, 'defaults' | 'thresholds' | 'timezone' | 'approval' | 'explain'>

/** Reads the settings; their shapes are checked, so that only what a shape cannot say is reported here. */
export function readSettings(nodes: ReadonlyMap<Setting, Node>, report: Report): Settings {
  const defaults = nodes.get('defaults')
  return {
    defaults: {
      decision: textOf(memberOf(defaults, 'decision')) === 'require_approval' ? 'require_approval' : 'deny',
      reason: textOf(memberOf(defaults, 'reason')) ?? DEFAULT_REASON,
    },
    thresholds: readThresholds(nodes.get('thresholds'), report),
    timezone: readTimezone(nodes.get('timezone'), report),
    approval: readTerms(nodes.get('approval'), DEFAULT_TERMS, report),
    explain: textOf(nodes.get('explain')) === 'reason' ? 'reason' : DEFAULT_EXPLAIN,
  }
}

function readThresholds(node: Node | undefined, report: Report): PolicyData['thresholds'] {
  const requireApproval = numberOf(memberOf(node, 'requireApproval')) ?? DEFAULT_THRESHOLDS.requireApproval
  const deny = numberOf(memberOf(node, 'deny')) ?? DEFAULT_THRESHOLDS.deny
  if (requireApproval > deny) {
    const place = memberOf(node, 'requireApproval') ?? memberOf(node, 'deny')
    if (place !== undefined)
      report.add('GATE1310', place, `requireApproval (${requireApproval}) must not be above deny (${deny}).`)
  }
  return { requireApproval, deny }
}

function readTimezone(node: Node | undefined, report: Report): string {
  const name = textOf(node)
  if (node === undefined || name === undefined) return DEFAULT_TIMEZONE
  if (isTimezone(name)) return name
  report.add(
    'GATE1117',
    node,
    `There is no time zone ${JSON.stringify(name)}.`,
    closest(name, Intl.supportedValuesOf('timeZone')),
  )
  return DEFAULT_TIMEZONE
}

// Offsets such as +02:00 are refused: they know no summer time.
function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
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

function readDuration(node: Node, report: Report): number | undefined {
  const text = textOf(node)
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms !== undefined && ms <= 90 * DAY_MS) return ms
  report.add('GATE1116', node, 'A duration is an integer and s, m, h or d, from 1s to 90d.', meantDuration(text))
  return undefined
}

/** `30 min`, `2 hours`. */
function meantDuration(text: string): string | undefined {
  const [, count, unit] = /^\s*([0-9]+)\s*([a-zA-Z])/.exec(text) ?? []
  const meant = `${Number(count)}${unit?.toLowerCase()}`
  return parseDuration(meant) === undefined ? undefined : meant
}

function readUnbound(node: Node | undefined, report: Report): string[] | undefined {
  if (node?.items === undefined) return undefined
  return node.items.flatMap((item) => {
    const text = textOf(item)
    if (text === undefined) return []
    const path = parseFactPath(text)
    const isOne = path !== undefined && !isPlural(path)
    if (isOne && REQUEST_ROOTS.has(path.root) && path.segments.length > 0) return [path.text]
    if (path === undefined) report.add('GATE1204', item, 'This is no path; write context.name or plan.name.')
    else
      report.add(
        'GATE1214',
        item,
        `${path.text} cannot be left unbound; only paths under context and plan can, without *.`,
        closest(text, [`context.${text}`]),
      )
    return []
  })
}
