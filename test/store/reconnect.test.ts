import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotReached, reconnecting } from '../../src/store/postgres/reconnect.ts'

test('a hundred sidecars whose server is away, and then back, ask it a few at a time', async () => {
  let nowMs = 0
  let isAway = true
  const attempts: number[] = []
  const clients = Array.from({ length: 100 }, () => reconnecting(() => nowMs))
  const connect = async (): Promise<void> => {
    attempts.push(nowMs)
    if (isAway) throw new Error('refused')
  }
  const connected = new Set<number>()
  // Each wants a connection every 50 ms, as under load, for a minute of absence and until all are back.
  for (; connected.size < clients.length; nowMs += 50) {
    isAway = nowMs < 60_000
    for (const [i, attempt] of clients.entries()) {
      if (connected.has(i)) continue
      const made = await attempt(connect).then(
        () => true,
        (error) => (error instanceof NotReached ? undefined : false),
      )
      if (made) connected.add(i)
    }
  }
  const inWindow = (fromMs: number) => attempts.filter((at) => at >= fromMs && at < fromMs + 1000).length
  const later = Array.from({ length: 50 }, (_, second) => inWindow(10_000 + second * 1000))
  // Twenty to forty a second after the first moments, where all at once would be a hundred in one.
  assert.ok(Math.max(...later) <= 50, `${Math.max(...later)} attempts in a second`)
  const back = attempts.filter((at) => at >= 60_000).map((at) => Math.floor((at - 60_000) / 250))
  const most = Math.max(...Array.from({ length: 21 }, (_, i) => back.filter((one) => one === i).length))
  assert.ok(most <= 30, `${most} of a hundred came back within 250 ms`)
  assert.ok(nowMs < 66_000)
})
