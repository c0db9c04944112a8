import assert from 'node:assert/strict'
import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Cleanup, type Gate, type GateOptions, startGate, temporaryFolder } from '../helpers.ts'
import { tamper } from '../store/used-folder.ts'

export interface Scene {
  /** Folder of the gate: the data file is in `data`. */
  dir: string
  anchorFile: string
}

/** Requests made during one life of the service. */
export type Life = (gate: Gate) => Promise<void>

/** A service lives, and ends with all of it anchored. */
export async function live(t: Cleanup, { dir, anchorFile }: Scene, life: Life): Promise<void> {
  const gate = await startGate(t, { dir, settings: { anchorFile } })
  await life(gate)
  await gate.server.close()
}

export function checks(count: number, action = 'email.send'): Life {
  return async (gate) => {
    const key = await gate.key()
    for (let n = 0; n < count; n += 1) {
      const { status } = await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action })
      assert.equal(status, 200)
    }
  }
}

export function newScene(): Scene {
  return { dir: temporaryFolder(), anchorFile: join(temporaryFolder(), 'anchors.jsonl') }
}

/** The data folder as it is now, to be put back later. */
export function backUp({ dir }: Scene): () => void {
  const kept = join(temporaryFolder(), 'data')
  cpSync(join(dir, 'data'), kept, { recursive: true })
  return () => {
    rmSync(join(dir, 'data'), { recursive: true })
    cpSync(kept, join(dir, 'data'), { recursive: true })
  }
}

/** A data file that lacks what was anchored last: an old backup that was put back. `secret` is of a key that it has. */
export async function rolledBack(t: Cleanup): Promise<Scene & { secret: string }> {
  const scene = newScene()
  let secret = ''
  await live(t, scene, async (gate) => {
    secret = (await gate.key()).secret
    await checks(3)(gate)
  })
  const putBack = backUp(scene)
  await live(t, scene, checks(4))
  putBack()
  return { ...scene, secret }
}

/**
 * Another history of the same length, which somebody with the data file and the signing key has made from a backup: it is consistent
 * in itself, and its checkpoints are signed.
 */
export async function forked(t: Cleanup): Promise<Scene> {
  const scene = newScene()
  await live(t, scene, checks(3))
  const putBack = backUp(scene)
  await live(t, scene, checks(4))
  putBack()
  await live(t, { ...scene, anchorFile: join(temporaryFolder(), 'nobody-looks-here') }, checks(4, 'email.other'))
  return scene
}

/** The whole data folder is gone, its signing key too, and the service has made another. */
export async function deleted(t: Cleanup): Promise<Scene> {
  const scene = newScene()
  await live(t, scene, checks(3))
  renameSync(join(scene.dir, 'data'), join(scene.dir, 'gone'))
  return scene
}

/** All that there was of one tenant's chain is gone, and the rest is as it was. */
export async function withoutTenant(t: Cleanup): Promise<Scene> {
  const scene = newScene()
  await live(t, scene, async (gate) => {
    await checks(2)(gate)
    const key = await gate.key({ tenant: 'other' })
    assert.equal((await gate.call(key, 'POST', '/gate/check', { tenantId: 'other', action: 'x' })).status, 200)
  })
  tamper(join(scene.dir, 'data'), (db) => {
    for (const table of ['entry', 'checkpoint', 'tree_node']) db.exec(`DELETE FROM ${table} WHERE chain = 'other/live'`)
    db.exec("DELETE FROM api_key WHERE json_extract(body, '$.tenantId') = 'other'")
  })
  return scene
}

/** Starts on what a scene has left. */
export function start(t: Cleanup, { dir, anchorFile }: Scene, more: GateOptions = {}): Promise<Gate> {
  return startGate(t, { dir, ...more, settings: { anchorFile } })
}
