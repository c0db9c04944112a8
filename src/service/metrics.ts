import type { ShadowCounts } from '../actions/gate/shadow.ts'
import type { Latency } from '../actions/overview/latency.ts'
import type { ErrorCounts } from '../http/error-counts.ts'
import { UNREADY } from '../http/services.ts'
import type { Anchors } from './anchors.ts'
import type { ClockJumps } from './clock.ts'
import type { KeptFleet } from './fleet.ts'
import { METRICS, type MetricName, PREFIX } from './metric-table.ts'
import type { Outcomes } from './outcomes.ts'
import { alteredRecords, faultyChains, type Judged, reasonsOf } from './readiness.ts'
import type { Tasks } from './repeat.ts'
import type { Writing } from './writing.ts'

export interface Measured extends Judged {
  anchors: Anchors
  outcomes: Pick<Outcomes, 'possibleBypasses'>
  shadows: ShadowCounts
  latency: Pick<Latency, 'histogram'>
  clockJumps(): ClockJumps
  writing: Writing
  divided: KeptFleet['divided']
  errors: Pick<ErrorCounts, 'all'>
  tasks: Pick<Tasks, 'failed'>
}

interface Sample {
  /** Suffix that a histogram adds to the name. */
  part?: 'bucket' | 'sum' | 'count'
  labels?: string
  value: number
}

/** Metrics in the text format of Prometheus, version 0.0.4. None of them names a tenant. */
export async function metricsText(measured: Measured): Promise<string> {
  const samples: Readonly<Record<MetricName, readonly Sample[]>> = {
    ...(await anchorSamples(measured)),
    ...trailSamples(measured),
    ...requestSamples(measured),
    ...fleetSamples(measured),
  }
  // The members of METRICS, in its order.
  return (Object.keys(METRICS) as MetricName[]).flatMap((name) => linesOf(name, samples[name])).join('')
}

async function anchorSamples({ anchors }: Measured) {
  const { unanchoredEntries, sinks } = await anchors.status()
  return {
    unanchored_entries: unanchoredEntries === null ? [] : [{ value: unanchoredEntries }],
    anchor_up: sinks.map(({ sink, ok }) => labelled('sink', sink, Number(ok))),
    anchor_last_success_timestamp_seconds: sinks.flatMap(({ sink, lastAt }) =>
      lastAt === null ? [] : [labelled('sink', sink, Date.parse(lastAt) / 1000)],
    ),
    anchor_failures_total: sinks.map(({ sink, failures }) => labelled('sink', sink, failures)),
  }
}

function trailSamples(measured: Measured) {
  const { store, verification } = measured
  const chains = faultyChains(measured).size
  const last = verification.last()
  return {
    audit_chain_faults: [{ value: chains }],
    altered_records: [{ value: alteredRecords(store) }],
    audit_valid: last === null && chains === 0 ? [] : [{ value: Number(chains === 0) }],
    audit_verified_timestamp_seconds: last === null ? [] : [{ value: Date.parse(last.at) / 1000 }],
    unwritten_stops: [{ value: store.imposed().length }],
  }
}

function requestSamples(measured: Measured) {
  const { errors, writing, tasks, outcomes, latency, clockJumps } = measured
  const reasons = reasonsOf(measured).map(({ reason }) => reason)
  return {
    observing_tenants: [{ value: measured.policies.observing() }],
    ...shadowSamples(measured),
    unready: UNREADY.map((reason) => labelled('reason', reason, Number(reasons.includes(reason)))),
    errors_total: counted('code', errors.all()),
    commits_refused_total: counted('code', Object.entries(writing.refused())),
    background_failures_total: counted('task', tasks.failed()),
    clock_jumps_total: counted('direction', Object.entries(clockJumps())),
    possible_bypasses_total: [{ value: outcomes.possibleBypasses() }],
    check_duration_seconds: histogramOf(latency),
  }
}

function shadowSamples({ shadows }: Measured) {
  const { matrix, failed } = shadows.counts()
  return {
    shadow_decisions_total: matrix.map(({ from, to, count: value }) => ({
      labels: `from="${from}",to="${to}"`,
      value,
    })),
    shadow_failures_total: failed.map(({ why, count }) => labelled('why', why, count)),
  }
}

function fleetSamples({ store, divided }: Measured) {
  return {
    fleet_sidecars: store.fleet === undefined ? [] : [{ value: store.fleet.live() }],
    fleet_signers: store.fleet === undefined ? [] : [{ value: store.fleet.signers() }],
    fleet_divided_policies: divided().map(({ digest, sidecars }) => labelled('digest', digest, sidecars)),
  }
}

function labelled(label: string, name: string, value: number): Sample {
  return { labels: `${label}="${name}"`, value }
}

function counted(label: string, counts: Iterable<readonly [name: string, value: number]>): Sample[] {
  return Array.from(counts, ([name, value]) => labelled(label, name, value))
}

function histogramOf(latency: Measured['latency']): Sample[] {
  const { buckets, count, sumS } = latency.histogram()
  const all = [...buckets.map(({ le, count: value }) => ({ le: String(le), value })), { le: '+Inf', value: count }]
  return [
    ...all.map(({ le, value }) => ({ part: 'bucket' as const, labels: `le="${le}"`, value })),
    { part: 'sum', value: sumS },
    { part: 'count', value: count },
  ]
}

function linesOf(name: MetricName, samples: readonly Sample[]): string[] {
  if (samples.length === 0) return []
  const { type, help } = METRICS[name]
  return [
    `# HELP ${PREFIX}${name} ${help}\n`,
    `# TYPE ${PREFIX}${name} ${type}\n`,
    ...samples.map(
      ({ part, labels, value }) =>
        `${PREFIX}${name}${part === undefined ? '' : `_${part}`}${labels === undefined ? '' : `{${labels}}`} ${value}\n`,
    ),
  ]
}
