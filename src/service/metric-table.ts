interface Metric {
  type: 'gauge' | 'counter' | 'histogram'
  help: string
  /** Condition of an alert in PromQL, and how long it must hold. */
  alert: { when: string; for: `${number}m`; means: string }
}

/** Names of all metrics without their prefix, with the alert that each is for. None has a label that names a tenant. */
export const METRICS = {
  unready: {
    type: 'gauge',
    help: 'Whether readiness fails for this reason.',
    alert: {
      when: 'max by (instance, reason) (gate_sidecar_unready) > 0',
      for: '1m',
      means: 'the service is not ready for requests; `/readyz` says why',
    },
  },
  observing_tenants: {
    type: 'gauge',
    help: 'Tenants whose policies are only observed: every action runs, unless it is stopped.',
    alert: {
      when: 'max by (instance) (gate_sidecar_observing_tenants) > 0',
      for: '60m',
      means: 'policies say `mode: observe`, as in a first roll-out; nothing but stops is enforced',
    },
  },
  shadow_decisions_total: {
    type: 'counter',
    help: 'Decisions that a set in shadow was asked about, by the decision and what the set would have decided.',
    alert: {
      when: 'sum by (instance, from) (increase(gate_sidecar_shadow_decisions_total{from!="allow",to="allow"}[1h])) > 0',
      for: '0m',
      means: 'a set in shadow would allow what is denied or held now; `gate-sidecar decisions list --differs` shows it',
    },
  },
  shadow_failures_total: {
    type: 'counter',
    help: 'Decisions about which a set in shadow said nothing, by the cause; they were made as without it.',
    alert: {
      when: 'sum by (instance, why) (increase(gate_sidecar_shadow_failures_total[10m])) > 0',
      for: '10m',
      means: 'a set in shadow fails, or takes too long; look at its cost before it is promoted',
    },
  },
  errors_total: {
    type: 'counter',
    help: 'Failures answered to callers, by code.',
    alert: {
      when: 'sum by (instance, code) (rate(gate_sidecar_errors_total{code=~"internal|audit_unavailable|overloaded"}[5m])) > 0',
      for: '5m',
      means: 'requests fail because of the service or its disk, not of their callers; the log has the cause',
    },
  },
  commits_refused_total: {
    type: 'counter',
    help: 'Commits that the store refused, by code; trials of the service count too.',
    alert: {
      when: 'increase(gate_sidecar_commits_refused_total[5m]) > 0',
      for: '0m',
      means: 'the disk is full or fails, or another process holds the file; nothing is decided meanwhile',
    },
  },
  unwritten_stops: {
    type: 'gauge',
    help: 'Kill switches in force that are not on disk.',
    alert: {
      when: 'gate_sidecar_unwritten_stops > 0',
      for: '0m',
      means: 'make room on the disk before anything restarts the service',
    },
  },
  background_failures_total: {
    type: 'counter',
    help: 'Runs of background work that failed, by task.',
    alert: {
      when: 'sum by (instance, task) (increase(gate_sidecar_background_failures_total[10m])) > 2',
      for: '0m',
      means: 'checkpoints, expiry, verification or another task does not come through; the log has the cause',
    },
  },
  audit_chain_faults: {
    type: 'gauge',
    help: 'Audit chains whose verification failed, or that are no longer signed because they were altered.',
    alert: {
      when: 'gate_sidecar_audit_chain_faults > 0',
      for: '0m',
      means: 'a chain was altered in the data file; `gate-sidecar audit verify` says where',
    },
  },
  altered_records: {
    type: 'gauge',
    help: 'Stored records that differ from what the audit chains record.',
    alert: {
      when: 'gate_sidecar_altered_records > 0',
      for: '0m',
      means: 'the data file was altered; the altered records are not used, and the log names them',
    },
  },
  audit_valid: {
    type: 'gauge',
    help: 'Whether the newest verification of each audit chain was good; absent before the first.',
    alert: { when: 'gate_sidecar_audit_valid == 0', for: '0m', means: 'as `gate_sidecar_audit_chain_faults`' },
  },
  audit_verified_timestamp_seconds: {
    type: 'gauge',
    help: 'When the service last verified all audit chains; absent before the first time.',
    alert: {
      when: 'time() - gate_sidecar_audit_verified_timestamp_seconds > 90000',
      for: '10m',
      means: 'the nightly verification did not finish; with `sweep: off` it does not run',
    },
  },
  unanchored_entries: {
    type: 'gauge',
    help: 'Entries of the audit trail that no anchor covers.',
    alert: {
      when: 'gate_sidecar_unanchored_entries > 1000',
      for: '10m',
      means: 'so many entries could be removed unnoticed',
    },
  },
  anchor_up: {
    type: 'gauge',
    help: 'Whether the sink accepted the last anchors sent to it.',
    alert: {
      when: 'gate_sidecar_anchor_up == 0',
      for: '10m',
      means: 'new entries could be removed unnoticed; see `failure` in `/readyz`, and the log',
    },
  },
  anchor_last_success_timestamp_seconds: {
    type: 'gauge',
    help: 'When the sink last accepted anchors.',
    alert: {
      when: 'time() - gate_sidecar_anchor_last_success_timestamp_seconds > 7200',
      for: '0m',
      means: 'no checkpoint has come through for two hours, though there is one each hour',
    },
  },
  anchor_failures_total: {
    type: 'counter',
    help: 'Failed attempts to send anchors to the sink.',
    alert: {
      when: 'increase(gate_sidecar_anchor_failures_total[1h]) > 10',
      for: '0m',
      means: 'a sink fails again and again, even if it recovers in between',
    },
  },
  clock_jumps_total: {
    type: 'counter',
    help: 'Times that the clock was set by more than a second, or the machine slept.',
    alert: {
      when: 'increase(gate_sidecar_clock_jumps_total[10m]) > 0',
      for: '0m',
      means: 'deadlines have moved with the clock of the machine; look at its time service',
    },
  },
  possible_bypasses_total: {
    type: 'counter',
    help: 'Allowed actions whose outcome never came, and actions that ran without an allow or were reported as not run.',
    alert: {
      when: 'increase(gate_sidecar_possible_bypasses_total[10m]) > 0',
      for: '0m',
      means: 'an action ran without an allow, or its [outcome](http-api.md#post-gateoutcome) never came',
    },
  },
  fleet_sidecars: {
    type: 'gauge',
    help: 'Live sidecars of the PostgreSQL store; absent for a data file.',
    alert: {
      when: 'changes(gate_sidecar_fleet_sidecars[10m]) > 6',
      for: '0m',
      means:
        'sidecars come and go: they restart, or lose the store; see `fleet` of the [overview](http-api.md#get-overview)',
    },
  },
  fleet_signers: {
    type: 'gauge',
    help: 'Live sidecars of the PostgreSQL store that have the log key, and sign; absent for a data file.',
    alert: {
      when: 'gate_sidecar_fleet_signers == 0',
      for: '2m',
      means: 'nobody signs what sidecars append; start one with [the log key](fleet.md#the-log-key)',
    },
  },
  fleet_divided_policies: {
    type: 'gauge',
    help: 'Live sidecars by policy digest, of tenants that have different policies, or none, at some; absent while there are none.',
    alert: {
      when: 'max by (instance) (gate_sidecar_fleet_divided_policies) > 0',
      for: '10m',
      means:
        'a roll-out of policies stopped half-way, so that sidecars decide differently; the [overview](http-api.md#get-overview) of the tenant says which',
    },
  },
  check_duration_seconds: {
    type: 'histogram',
    help: 'Time to decide or refuse POST /gate/check, without waiting for its client and people.',
    alert: {
      when: 'histogram_quantile(0.99, sum by (instance, le) (rate(gate_sidecar_check_duration_seconds_bucket[5m]))) > 0.25',
      for: '10m',
      means: 'one check in a hundred takes longer than a quarter of a second: the disk is slow, or too much is asked',
    },
  },
} as const satisfies Record<string, Metric>

export type MetricName = keyof typeof METRICS

export const PREFIX = 'gate_sidecar_'
