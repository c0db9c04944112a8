import type { TestContext } from 'node:test'
import type { Clock } from '../../src/base/time.ts'
import type { Awaitable } from '../../src/store/steps.ts'
import type { Store } from '../../src/store/store.ts'
import { commitContract } from './contract-commit.ts'
import { groupContract } from './contract-group.ts'
import { guardContract } from './contract-guards.ts'
import { pageContract } from './contract-page.ts'
import { readContract } from './contract-read.ts'
import { stateContract } from './contract-state.ts'
import { timeContract } from './contract-time.ts'
import { trailContract } from './contract-trail.ts'

/** Opens a store at a place; another one at the same place stands for another process. */
export type OpenStore<Place> = (place: Place, clock: Clock) => Awaitable<Store>

/** Opens stores that are closed after the test. */
export type Opener = (clock: Clock) => Promise<Store>

/** Every promise of src/store/store.ts, for whatever keeps it. @param placed makes an empty place for a test */
export function storeContract<Place>(placed: (t: TestContext) => Awaitable<Place>, open: OpenStore<Place>): void {
  const stores = (t: TestContext): Opener => {
    const place = placed(t)
    return async (clock) => {
      const store = await open(await place, clock)
      t.after(() => store.close())
      return store
    }
  }
  guardContract(stores)
  commitContract(stores)
  groupContract(stores)
  stateContract(stores)
  timeContract(stores)
  pageContract(stores)
  readContract(stores)
  trailContract(stores)
}

export type Stores = (t: TestContext) => Opener
