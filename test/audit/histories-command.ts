import assert from 'node:assert/strict'
import type fc from 'fast-check'
import type { World } from './histories.ts'
import { assertAsModelled } from './histories-invariants.ts'
import type { Model } from './histories-model.ts'

export type Command = fc.AsyncCommand<Model, World>

/** One command: what it needs, and what it does to the trail and to the model of it. Both are held to each other after it. */
interface Action {
  needs?(model: Model): boolean
  /** Writes: while the trail contradicts its anchors it is refused, and changes nothing. */
  writes?: boolean
  run(model: Model, world: World): Promise<void>
}

export function command(name: string, { needs = () => true, writes = false, run }: Action): Command {
  return {
    check: needs,
    toString: () => name,
    async run(model, world) {
      world.nowMs += 1000
      model.nowMs = world.nowMs
      if (writes && model.isSuspended) await assert.rejects(run(structuredClone(model), world), REFUSED)
      else await run(model, world)
      world.life.store.refresh()
      await assertAsModelled(model, world)
    },
  }
}
const REFUSED = { code: 'audit_unavailable' }

export function pick<T>(items: readonly T[], n: number): T {
  return items[n % items.length] ?? assert.fail('there is none')
}
