import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** Two looks at the policies' folders, half a second apart, and many times as long for a busy machine. */
const LIMIT_MS = 15_000

/** Asks until the answer is the wanted one. */
export async function becomes<T>(read: () => Promise<T>, wanted: T): Promise<void> {
  const end = performance.now() + LIMIT_MS
  let seen = await read()
  while (seen !== wanted && performance.now() < end) {
    await sleep(50)
    seen = await read()
  }
  assert.equal(seen, wanted)
}
