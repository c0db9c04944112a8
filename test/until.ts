import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** Time after which a wait counts as hung, on any machine that is busy with other tests. */
export const HANGS_MS = 90_000

/** Looks again and again until that gives something, and gives that. @param limitMs less only where that is what is promised */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = HANGS_MS,
): Promise<T> {
  const endMs = performance.now() + limitMs
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > endMs) assert.fail(`not within ${limitMs / 1000} s: ${what}`)
    await sleep(20)
  }
}
