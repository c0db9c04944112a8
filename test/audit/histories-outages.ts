import assert from 'node:assert/strict'
import { join } from 'node:path'
import { prunable, prune } from '../../src/actions/audit/prune.ts'
import { restoreTrail } from '../../src/actions/audit/restore.ts'
import { checkpointer } from '../../src/actions/evidence/checkpoints.ts'
import { rotateLogKey } from '../../src/actions/evidence/signing-key-changes.ts'
import { openKeyring } from '../../src/actions/evidence/signing-keys.ts'
import { anchorFile } from '../../src/anchors/file.ts'
import { idMaker } from '../../src/base/id.ts'
import { signingKeyFile } from '../../src/files/signing-key.ts'
import { randomPool } from '../../src/store/random-pool.ts'
import { openFile } from '../helpers.ts'
import { HOST, type World } from './histories.ts'
import { command, pick } from './histories-command.ts'
import * as m from './histories-model.ts'

type Model = m.Model

/** Runs the work of a command beside the service, such as `signing-keys rotate`, on a store of its own. */
async function beside<T>(
  { dir, life }: World,
  work: (deps: Parameters<typeof rotateLogKey>[0]) => Promise<T>,
): Promise<T> {
  const { clock } = life
  const store = openFile(dir, clock)
  try {
    return await work({ store, clock, newId: idMaker(clock, randomPool()) })
  } finally {
    await store.close()
  }
}
const keyFileOf = ({ dir }: World) => signingKeyFile(join(dir, 'signing-key.pem'))

export const rotates = command('rotate', {
  needs: ({ isSuspended }) => !isSuspended,
  async run(model, world) {
    await beside(world, (deps) => rotateLogKey(deps, keyFileOf(world), HOST))
    // The end of the old key makes a checkpoint due at once.
    m.append(model, m.SYSTEM, 2, 0)
    model.stored.keys.push({ token: m.newToken(), sinceMs: model.nowMs })
  },
})

async function ends(model: Model, world: World, isClean: boolean): Promise<void> {
  await world.end(isClean)
  model.bundleKey = null
  if (!isClean || model.isSuspended) return
  m.sign(model, model.stored.chains.keys())
  m.deliver(model)
}

async function opens(model: Model, world: World): Promise<void> {
  await world.open()
  model.heartbeatMs = world.nowMs
  model.isSuspended = m.discrepancies(model).size > 0
}

export const restarts = (isClean: boolean) =>
  command(isClean ? 'restart' : 'crash', {
    async run(model, world) {
      await ends(model, world, isClean)
      await opens(model, world)
    },
  })

export const backsUp = command('back up', {
  async run(model, world) {
    await world.backUp()
    model.backups.push(structuredClone(model.stored))
  },
})

export const putsBack = (n: number, isClean: boolean) =>
  command(`put back(${n})${isClean ? '' : ' after a crash'}`, {
    needs: ({ backups }) => backups.length > 0,
    async run(model, world) {
      await ends(model, world, isClean)
      const backup = n % model.backups.length
      world.putBack(backup)
      model.stored = structuredClone(pick(model.backups, backup))
      m.noteLate(model)
      await opens(model, world)
    },
  })

const DAY_MS = 86_400_000
const RECORD = { archive: { first: 0, manifest: `sha256:${'0'.repeat(64)}` }, reason: 'kept for a while' }

/** A hundred days later, of what was there before. */
export const prunes = (chain: string) =>
  command(`prune(${chain})`, {
    needs: ({ isSuspended }) => !isSuspended,
    async run(model, world) {
      world.nowMs += 100 * DAY_MS
      model.nowMs = world.nowMs
      // Its certificate was for a day.
      model.bundleKey = null
      m.noteLate(model)
      const { life } = world
      const beforeMs = world.nowMs - 95 * DAY_MS
      const range = await prunable(life, chain, { beforeMs })
      const [first, end] = [m.beginOf(model.stored, chain), m.cutOf(model, chain, beforeMs)]
      assert.deepEqual([range.first, range.end], [first, end])
      await prune(life, HOST, range, RECORD)
      if (end === first) return
      m.pruneTo(model, chain, end)
      m.append(model, chain)
    },
  })

export const settles = command('restore', {
  needs: ({ isSuspended }) => isSuspended,
  async run(model, world) {
    const found = await beside(world, async (deps) => {
      const keyring = await openKeyring(deps, keyFileOf(world))
      const onFault = (chain: string, why: string): never => assert.fail(`${chain}: ${why}`)
      const means = { ...deps, keyring, checkpoints: checkpointer({ ...deps, keyring, onFault }) }
      return restoreTrail(means, async () => means, anchorFile(world.anchorFile), {
        reason: 'a backup was put back',
        actor: HOST,
      })
    })
    assert.deepEqual(new Map(found.discrepancies.map(({ chain, status }) => [chain, status])), m.discrepancies(model))
    assert.deepEqual(found.left, [])
    m.append(model, m.SYSTEM)
    for (const chain of new Set([...found.discrepancies.map(({ chain }) => chain), m.SYSTEM])) {
      m.sign(model, [chain])
      const signed = model.stored.checkpoints.filter((one) => one.chain === chain).at(-1)
      model.anchors.push(signed ?? m.headOf(model.stored, chain))
    }
    model.isSuspended = false
    world.life.store.refresh()
    await world.deliver()
    m.deliverAgain(model)
    m.deliver(model)
  },
})
