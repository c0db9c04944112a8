import { test } from 'node:test'

/** `npm run test:full` and `npm run test:rest` set it. A name of its own: the service refuses unknown GATE_SIDECAR_ variables. */
export const FULL = process.env.TEST_TIER === 'full'

/** Cases of a property or a random history: a tenth in the fast tier. fast-check prints the seed of one that fails. */
export const runs = (full: number): number => (FULL ? full : Math.ceil(full / 10))

/** Selects from many cases in a row: all in the full tier, every tenth in the fast one. */
export const some = <T>(cases: readonly T[]): T[] => cases.filter((_, i) => FULL || i % 10 === 0)

/** Declares a test of the full tier alone, beside those that hold its promise in the fast tier: docs/testing.md has the table. */
export const fullTest = FULL ? test : test.skip
