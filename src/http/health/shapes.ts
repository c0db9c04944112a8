import * as Type from '#typebox'
import { SINKS } from '../../actions/anchors/anchors.ts'
import { EXAMPLE, nullable, oneOf, Timestamp, titled } from '../common-shapes.ts'

export const Health = Type.Object({ status: oneOf(['ok']) }, { title: 'Health' })
export const Readiness = titled('Readiness', {
  ready: Type.Boolean(),
  policySetsOutdated: Type.Integer({ minimum: 0, description: 'Sets whose newest files have faults.' }),
  verified: nullable(
    Type.Object(
      { at: Timestamp, valid: Type.Boolean(), chains: Type.Integer({ minimum: 0 }) },
      { description: 'Last verification of all audit chains by the service; null before the first.' },
    ),
  ),
  anchors: Type.Object({
    unanchoredEntries: nullable(
      Type.Integer({ minimum: 0, description: 'Entries of the trail that no anchor covers; null without a sink.' }),
    ),
    sinks: Type.Array(
      Type.Object({
        sink: oneOf(SINKS),
        ok: Type.Boolean({ description: 'False if the last attempt failed.' }),
        lastAt: nullable(Timestamp),
        failure: nullable(Type.String()),
      }),
    ),
  }),
})

export const healthzExample = { data: { status: 'ok' as const } }
const anchors = {
  unanchoredEntries: 3,
  sinks: [{ sink: 'file' as const, ok: true, lastAt: EXAMPLE.time, failure: null }],
}
const verified = { at: EXAMPLE.time, valid: true, chains: 3 }
export const readyzExample = { data: { ready: true, policySetsOutdated: 0, verified, anchors } }
export const metricsExample = {
  data: `# HELP gate_sidecar_unanchored_entries Entries of the audit trail that no anchor covers.
# TYPE gate_sidecar_unanchored_entries gauge
gate_sidecar_unanchored_entries 3
`,
}
