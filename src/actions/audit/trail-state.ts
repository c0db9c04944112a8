import type { SinkState } from '../anchors/anchors.ts'

/** The result of the last verification of all chains. */
export interface Verified {
  at: string
  valid: boolean
  chains: number
}

/** The progress of anchoring checkpoints. */
export interface AnchorState {
  /** `unanchoredEntries`: entries of all chains beyond every anchor; null without a sink. */
  status(): Promise<{ unanchoredEntries: number | null; sinks: SinkState[] }>
  /** The public reason why nothing is written; null while writing is allowed. */
  fault(): string | null
}

/** The state of the trail, known without reading it. */
export interface TrailDeps {
  anchors: AnchorState
  /** `last` is null before the first verification of all chains. */
  verification: { last(): Verified | null }
}
