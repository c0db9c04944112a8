import type { SinkState } from '../anchors/anchors.ts'

/** What came of it when all chains were verified last. */
export interface Verified {
  at: string
  valid: boolean
  chains: number
}

/** How far checkpoints have come to where they cannot be taken back. */
export interface AnchorState {
  /** `unanchoredEntries`: those of all chains that no anchor covers; null where anchors go nowhere. */
  status(): Promise<{ unanchoredEntries: number | null; sinks: SinkState[] }>
  /** Why nothing is written, for everybody to read; null when it is. */
  fault(): string | null
}

/** How the trail is, as far as it is known without reading it. */
export interface TrailDeps {
  anchors: AnchorState
  sweeping: { last(): Verified | null }
}
