import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Caller, type CheckDeps, callerOf } from '../../src/actions/deps.ts'
import type { EvidenceDeps } from '../../src/actions/evidence/evidence.ts'
import { historyReader } from '../../src/actions/gate/history.ts'
import { createKey } from '../../src/actions/keys/keys.ts'
import { ensureTenant } from '../../src/actions/keys/tenants.ts'
import { idMaker } from '../../src/base/id.ts'
import type { Role } from '../../src/keys/roles.ts'
import { readConfig } from '../../src/service/config.ts'
import { createLogger } from '../../src/service/log.ts'
import type { Tasks } from '../../src/service/repeat.ts'
import { keepTrail, type Trail } from '../../src/service/trail.ts'
import { randomPool } from '../../src/store/random-pool.ts'
import { HEADER, setOf } from '../authoring/sources.ts'
import { ACME_POLICY, openFile, temporaryFolder } from '../helpers.ts'
import { START_MS } from '../store/drafts.ts'
import { snapshot } from './trail.ts'

export const HOST = { kind: 'host', id: 'host:0' } as const
const POLICIES = new Map([['acme', setOf(ACME_POLICY.replace(HEADER, ''))]])

/** The trail of a running service: all of src/service/trail.ts, on a clock and with background work that a test moves. */
export interface Life extends CheckDeps, EvidenceDeps {
  trail: Trail
  caller(keyId: string): Caller
}

export interface World {
  life: Life
  nowMs: number
  dir: string
  anchorFile: string
  backups: string[]
  open(): Promise<void>
  /** Ends the service, as SIGTERM does or as a crash. */
  end(isClean: boolean): Promise<void>
  /** Background work that is due, once, and what it delivers. */
  tend(): Promise<void>
  deliver(): Promise<void>
  backUp(): Promise<void>
  /** Lays a backup in the place of the data folder, while the service is down. */
  putBack(backup: number): void
  /** A key of the tenant, by the action that the command line uses; the tenant too. */
  key(tenant: string, roles: Role[], identity: string): Promise<string>
}

/** Background work waits until it is asked for. */
function stepped() {
  const works = new Map<string, () => Promise<unknown>>()
  const tasks: Tasks = {
    every: (name, _ms, work) => void works.set(name, work),
    untilDone: (name) => assert.fail(`nothing here is tried again and again, such as ${name}`),
    note: (error) => assert.fail(String(error)),
    failed: () => new Map(),
    stop: async () => undefined,
  }
  return { step: (name: string) => (works.get(name) ?? assert.fail(`nobody works at: ${name}`))(), tasks }
}

export async function newWorld(): Promise<World> {
  const dir = temporaryFolder()
  const anchorFile = join(temporaryFolder(), 'anchors.jsonl')
  const config = readConfig({ flags: { data: dir, anchorFile, sweep: 'off' }, env: {}, file: undefined })
  const clock = (): number => world.nowMs
  let background = stepped()

  const open = async (): Promise<void> => {
    const store = openFile(dir, clock)
    const deps = { store, clock, newId: idMaker(clock, randomPool()) }
    background = stepped()
    const trail = await keepTrail(deps, { config, log: createLogger('silent'), tasks: background.tasks })
    const caller = (keyId: string): Caller => {
      const key = store.state().keys.get(keyId) ?? assert.fail(`there is no key ${keyId}`)
      return callerOf(key, key.tenantId ?? assert.fail())
    }
    world.life = { ...deps, ...trail, trail, policies: POLICIES, history: historyReader(store), caller }
  }
  const deliver = async (): Promise<void> => {
    await background.step('deliver anchors')
    while (world.life.trail.anchors.fault() === null && (await undelivered(world.life))) await turn()
  }
  const world: World = {
    life: undefined as unknown as Life, // until it is opened below
    nowMs: START_MS,
    dir,
    anchorFile,
    backups: [],
    open,
    async end(isClean) {
      if (isClean) await world.life.trail.close()
      await world.life.store.close()
    },
    deliver,
    async tend() {
      await background.step('sign checkpoints')
      await deliver()
    },
    async backUp() {
      world.backups.push(await snapshot(dir, world.life.store))
    },
    putBack(backup) {
      rmSync(dir, { recursive: true })
      cpSync(world.backups[backup] ?? assert.fail(), dir, { recursive: true })
    },
    async key(tenant, roles, identity) {
      await ensureTenant(world.life, HOST, tenant)
      return (await createKey(world.life, { actor: HOST, caller: undefined }, tenant, { roles, identity })).id
    },
  }
  await open()
  return world
}

const turn = (): Promise<void> => new Promise((done) => setImmediate(done))

/** Returns whether any checkpoint is not recorded as taken. */
async function undelivered({ store }: Life): Promise<boolean> {
  const [taken] = await store.deliveries()
  return (await store.checkpointsAfter(taken?.number ?? 0, 1)).length > 0
}
