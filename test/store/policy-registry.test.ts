import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Caller } from '../../src/actions/deps.ts'
import { ensureTenant } from '../../src/actions/keys/tenants.ts'
import { type FolderDeps, folderOrigin } from '../../src/actions/policies/folder-origin.ts'
import { policyRegistry, type RegistryDeps } from '../../src/actions/policies/registry.ts'
import { idMaker } from '../../src/base/id.ts'
import { policyFolders } from '../../src/files/policy-folders.ts'
import { HOST } from '../audit/histories.ts'
import { ACME_POLICY, inThisThread, startGate, temporaryFolder, writeFiles } from '../helpers.ts'

const DENYING = `${ACME_POLICY}  - {id: stop, actions: ["**"], effect: deny, reason: Nothing for now.}\n`
const BROKEN = 'apiVersion: gate-sidecar/v1\ntenant: acme\nrules: [{id: x}]\n'

type FolderRegistryDeps = RegistryDeps & FolderDeps

const registryOf = (deps: FolderRegistryDeps) => policyRegistry(deps, folderOrigin(deps))

/** Returns the dependencies of a second process on the data file of a service; the tenant acme is there. */
async function beside(t: TestContext, root: string, more: Partial<FolderRegistryDeps> = {}) {
  const { server, key } = await startGate(t, { watch: 'off', policies: {} })
  await key()
  const { policyWorker } = inThisThread
  const errors: unknown[] = []
  const deps: FolderRegistryDeps = {
    store: server.store,
    clock: Date.now,
    newId: idMaker(Date.now, randomBytes),
    compile: policyWorker.compile,
    compileAndTest: policyWorker.compileAndTest,
    folders: policyFolders(root, policyWorker),
    watch: true,
    requireReplay: null,
    onChange: () => undefined,
    onError: (error) => void errors.push(error),
    ...more,
  }
  return { deps, errors, recorded: () => server.store.state().policies.get('acme')?.digest }
}

test('a set that comes into force while another process records one is on record before it answers', async (t) => {
  const root = temporaryFolder()
  writeFiles(root, { 'acme/main.yaml': DENYING })
  const other = temporaryFolder()
  writeFiles(other, { 'acme/main.yaml': `${DENYING}timezone: Europe/Berlin\n` })
  const { deps, recorded } = await beside(t, root)
  const { store } = deps
  let between = true
  const registry = registryOf({
    ...deps,
    store: {
      ...store,
      async commit(submission) {
        if (between) {
          between = false
          await registryOf({ ...deps, folders: policyFolders(other, inThisThread.policyWorker) }).reloadAll()
        }
        return store.commit(submission)
      },
    },
  })
  await registry.reloadAll()
  assert.ok(registry.get('acme') !== undefined)
  assert.equal(recorded(), registry.get('acme')?.digest)
})

test('the last good set that could not be loaded in time at the start is tried again, though its folder stays broken', async (t) => {
  const root = temporaryFolder()
  writeFiles(root, { 'acme/main.yaml': DENYING })
  let shiftMs = 0
  const { deps } = await beside(t, root, { clock: () => Date.now() + shiftMs })
  const first = registryOf(deps)
  await first.reloadAll()
  writeFileSync(join(root, 'acme/main.yaml'), BROKEN)
  let busy = true
  const second = registryOf({
    ...deps,
    compile: async (source) => (busy ? { fault: 'takes more than 5 s to load' } : deps.compile(source)),
  })
  await second.reloadAll()
  assert.equal(second.get('acme'), undefined)
  busy = false
  shiftMs = 61_000
  await second.tend()
  await second.idle()
  assert.equal(second.get('acme')?.digest, first.get('acme')?.digest)
})

test('a set that was served before its tenant was there gives way to the recorded one, while it lacks a sealed replay', async (t) => {
  const [root, other] = [temporaryFolder(), temporaryFolder()]
  const looser = 'apiVersion: gate-sidecar/v1\ntenant: beta\nrules: []\n'
  const [recorded, waiting] = [looser, `${looser}timezone: Europe/Berlin\n`]
  writeFiles(root, { 'beta/main.yaml': recorded })
  writeFiles(other, { 'beta/main.yaml': waiting })
  let [pages, shiftMs] = [0, 0]
  const { deps } = await beside(t, root, { requireReplay: { since: '1h', maxNewAllows: 0, maxNewDenies: 0 } })
  const { store } = deps
  const counting = {
    ...store,
    page(query: Parameters<typeof store.page>[0]) {
      pages += 1
      return store.page(query)
    },
  }
  const first = registryOf(deps)
  const second = registryOf({
    ...{ ...deps, store: counting, clock: () => Date.now() + shiftMs },
    folders: policyFolders(other, inThisThread.policyWorker),
  })
  await first.reloadAll()
  await second.reloadAll()
  const [mine, theirs] = [first.get('beta')?.digest, second.get('beta')?.digest]
  assert.notEqual(mine, theirs)
  await ensureTenant(deps, HOST, 'beta')
  const tend = async (registry: typeof first) => {
    await registry.tend()
    await registry.idle()
  }
  await tend(first)
  assert.equal(store.state().policies.get('beta')?.digest, mine)
  await tend(second)
  assert.equal(second.get('beta')?.digest, mine)
  assert.match(second.faults()[0]?.fault ?? '', /^replay_required: /)
  const before = pages
  await tend(second)
  await tend(second)
  assert.equal(pages, before, 'it is looked for every two seconds')
  shiftMs = 3000
  await tend(second)
  assert.ok(pages > before)
  assert.equal(second.get('beta')?.digest, mine)
})

test('a look at the folders reads one of them in each turn of the event loop', async (t) => {
  const root = temporaryFolder()
  const tenants = Array.from({ length: 20 }, (_, i) => `t${i}`)
  writeFiles(root, Object.fromEntries(tenants.map((tenant) => [`${tenant}/main.yaml`, BROKEN])))
  const { deps } = await beside(t, root)
  let turn = 0
  const turns: number[] = []
  const { folders } = deps
  const read = (tenant: string) => {
    turns.push(turn)
    return folders.read(tenant)
  }
  const registry = registryOf({ ...deps, folders: { ...folders, read } })
  let isOver = false
  const counting = (async () => {
    for (; !isOver; turn += 1) await nextTurn()
  })()
  await registry.tend()
  await registry.idle()
  isOver = true
  await counting
  assert.deepEqual([turns.length, new Set(turns).size], [20, 20])
})

test('what fails is told at each look, and no more once it went well', async (t) => {
  const root = join(temporaryFolder(), 'policies')
  writeFileSync(root, 'a file, not a folder')
  const { deps, errors } = await beside(t, root)
  const registry = registryOf(deps)
  const look = async (): Promise<number> => {
    await registry.tend()
    await registry.idle()
    return errors.length
  }
  assert.deepEqual([await look(), await look()], [1, 2])
  rmSync(root)
  writeFiles(root, { 'acme/main.yaml': DENYING })
  assert.equal(await look(), 2)
  rmSync(root, { recursive: true })
  writeFileSync(root, 'a file again')
  assert.equal(await look(), 3)
})

test('what is told of a set: when its folder was read, and since when it is in force, whatever its comments', async (t) => {
  const root = temporaryFolder()
  writeFiles(root, { 'acme/main.yaml': DENYING })
  let shiftMs = 0
  const { deps } = await beside(t, root, { clock: () => Date.now() + shiftMs, watch: false })
  let busy = false
  const registry = registryOf({
    ...deps,
    compileAndTest: async (source) => (busy ? { fault: 'takes more than 5 s to load' } : deps.compileAndTest(source)),
  })
  const told = () => registry.describe({ tenantId: 'acme' } as Caller)
  await registry.reloadAll()
  const { loadedAt } = told()
  assert.ok(loadedAt !== null)
  shiftMs = 5000
  writeFileSync(join(root, 'acme/main.yaml'), `${DENYING}# changed\n`)
  await registry.reloadAll()
  assert.deepEqual([told().loadedAt, told().current], [loadedAt, true])
  busy = true
  writeFileSync(join(root, 'acme/main.yaml'), `${DENYING}# changed again\n`)
  await registry.reloadAll()
  const { checkedAt } = told()
  shiftMs = 10_000
  await registry.tend()
  await registry.idle()
  assert.deepEqual([told().checkedAt, told().current], [checkedAt, false], 'nothing is read while nobody asks')
})

test('a change is told of once: comments are none, a fault is, and so is its end', async (t) => {
  const root = temporaryFolder()
  const told: string[] = []
  const { deps } = await beside(t, root, { onChange: (_, change) => void told.push('digest' in change ? 'in' : 'out') })
  const registry = registryOf(deps)
  for (const more of ['', '# changed\n', 'rulez: []\n', '# changed\n']) {
    writeFiles(root, { 'acme/main.yaml': `${DENYING}${more}` })
    await registry.reloadAll()
  }
  assert.deepEqual(told, ['in', 'out', 'in'])
})
