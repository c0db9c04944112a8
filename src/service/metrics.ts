import type { TrailDeps } from '../actions/audit/trail-state.ts'
import type { Checkpointer } from '../actions/evidence/checkpoints.ts'
import type { Latency } from '../actions/overview/latency.ts'
import type { ClockJumps } from './clock.ts'
import type { Outcomes } from './outcomes.ts'

export interface Measured extends TrailDeps {
  checkpoints: Pick<Checkpointer, 'faults'>
  outcomes: Pick<Outcomes, 'possibleBypasses'>
  latency: Pick<Latency, 'histogram'>
  clockJumps(): ClockJumps
}

interface Metric {
  name: string
  type: 'gauge' | 'counter' | 'histogram'
  help: string
  samples: readonly Sample[]
}

interface Sample {
  /** Suffix that a histogram adds to the name. */
  part?: 'bucket' | 'sum' | 'count'
  labels?: string
  value: number
}

/** Metrics in the text format of Prometheus, version 0.0.4. None of them names a tenant. */
export async function metricsText({
  anchors,
  checkpoints,
  sweeping,
  outcomes,
  latency,
  clockJumps,
}: Measured): Promise<string> {
  const last = sweeping.last()
  const { unanchoredEntries, sinks } = await anchors.status()
  const metrics: Metric[] = [
    {
      name: 'gate_sidecar_unanchored_entries',
      type: 'gauge',
      help: 'Entries of the audit trail that no anchor covers.',
      samples: unanchoredEntries === null ? [] : [{ value: unanchoredEntries }],
    },
    {
      name: 'gate_sidecar_anchor_up',
      type: 'gauge',
      help: 'Whether the sink took anchors when it was last given some.',
      samples: sinks.map(({ sink, ok }) => ({ ...of(sink), value: Number(ok) })),
    },
    {
      name: 'gate_sidecar_anchor_last_success_timestamp_seconds',
      type: 'gauge',
      help: 'When the sink took anchors last.',
      samples: sinks.flatMap(({ sink, lastAt }) =>
        lastAt === null ? [] : [{ ...of(sink), value: Date.parse(lastAt) / 1000 }],
      ),
    },
    {
      name: 'gate_sidecar_anchor_failures_total',
      type: 'counter',
      help: 'Attempts to give the sink anchors that failed.',
      samples: sinks.map(({ sink, failures }) => ({ ...of(sink), value: failures })),
    },
    {
      name: 'gate_sidecar_audit_chain_faults',
      type: 'gauge',
      help: 'Audit chains that are not signed any more, since they were altered.',
      samples: [{ value: checkpoints.faults().size }],
    },
    clockMetric(clockJumps()),
    {
      name: 'gate_sidecar_possible_bypasses_total',
      type: 'counter',
      help: 'Allowed actions whose outcome never came, and actions that ran without an allow or were told as not run.',
      samples: [{ value: outcomes.possibleBypasses() }],
    },
    {
      name: 'gate_sidecar_audit_valid',
      type: 'gauge',
      help: 'Whether all audit chains were good when the service verified them last.',
      samples: last === null ? [] : [{ value: Number(last.valid) }],
    },
    {
      name: 'gate_sidecar_audit_verified_timestamp_seconds',
      type: 'gauge',
      help: 'When the service verified all audit chains last.',
      samples: last === null ? [] : [{ value: Date.parse(last.at) / 1000 }],
    },
    {
      name: 'gate_sidecar_check_duration_seconds',
      type: 'histogram',
      help: 'How long POST /gate/check took to be answered, without what it waited for people.',
      samples: histogramOf(latency),
    },
  ]
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .flatMap(linesOf)
    .join('')
}

function clockMetric(jumps: ClockJumps): Metric {
  return {
    name: 'gate_sidecar_clock_jumps_total',
    type: 'counter',
    help: 'Times that the clock was set by more than a second, or the machine slept.',
    samples: Object.entries(jumps).map(([direction, value]) => ({ labels: `direction="${direction}"`, value })),
  }
}

function of(sink: string): Pick<Sample, 'labels'> {
  return { labels: `sink="${sink}"` }
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

function linesOf({ name, type, help, samples }: Metric): string[] {
  return [
    `# HELP ${name} ${help}\n`,
    `# TYPE ${name} ${type}\n`,
    ...samples.map(
      ({ part, labels, value }) =>
        `${name}${part === undefined ? '' : `_${part}`}${labels === undefined ? '' : `{${labels}}`} ${value}\n`,
    ),
  ]
}
