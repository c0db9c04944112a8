import type { Store } from '../../src/store/store.ts'

/** The store, where `act` runs once between a decision and its commit, as others act at the same time. */
export function interrupted(store: Store, act: () => unknown): Store {
  let done = false
  return {
    ...store,
    async commit(submission) {
      if (!done) {
        done = true
        await act()
      }
      return store.commit(submission)
    },
  }
}
