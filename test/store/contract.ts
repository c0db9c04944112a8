import type { TestContext } from 'node:test'
import type { Clock } from '../../src/base/time.ts'
import type { Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../helpers.ts'
import { commitContract } from './contract-commit.ts'
import { groupContract } from './contract-group.ts'
import { guardContract } from './contract-guards.ts'
import { pageContract } from './contract-page.ts'
import { readContract } from './contract-read.ts'
import { stateContract } from './contract-state.ts'
import { timeContract } from './contract-time.ts'

/** Opens a store on a folder; another one on the same folder stands for another process. */
export type OpenStore = (dir: string, clock: Clock) => Store

/** Opens stores that are closed after the test. */
export type Opener = (clock: Clock) => Store

/** Every promise of src/store/store.ts, for whatever keeps it. */
export function storeContract(open: OpenStore): void {
  const stores = (t: TestContext): Opener => {
    const dir = temporaryFolder()
    return (clock) => {
      const store = open(dir, clock)
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
}

export type Stores = (t: TestContext) => Opener
