import type { PlacedStop } from '../../src/killswitch/killswitch.ts'

export const T0 = Date.parse('2026-01-01T00:00:00.000Z')

export function at(ms: number): string {
  return new Date(T0 + ms).toISOString()
}

/** A stop of everything of acme's live side at T0 and after ten entries, in force. */
export function stopOf(change: Partial<PlacedStop> = {}): PlacedStop {
  return {
    id: 'ksw_1',
    revision: 1,
    level: 'L3',
    target: 'acme/live',
    scope: 'acme',
    patterns: [],
    reason: 'drill',
    triggeredBy: 'ann',
    triggeredAt: at(0),
    recoveredBy: null,
    recoveredAt: null,
    comment: null,
    lengths: { 'acme/live': 10 },
    ...change,
  }
}
