import type { MakeVerifier } from '../../src/store/sqlite/verifiers.ts'
import { runLater } from '../../src/store/steps.ts'
import type { Store } from '../../src/store/store.ts'
import { verifyChain } from '../../src/store/verify/verify-chain.ts'

/** A verifier that others interrupt, as on a server: work is done after one of its reads of seqs. */
export function interrupted() {
  let left = 0
  let work = async (): Promise<unknown> => undefined
  const makeVerifier: MakeVerifier = ({ origin }, file) => ({
    async verify(request, onProgress) {
      const connection = file.connection()
      const { entries } = connection
      const seqsOfTypes = async (...args: Parameters<typeof entries.seqsOfTypes>) => {
        const seqs = entries.seqsOfTypes(...args)
        left -= 1
        if (left === 0) await work()
        return seqs
      }
      return runLater(verifyChain({ ...connection, entries: { ...entries, seqsOfTypes } }, origin, request, onProgress))
    },
    close: async () => undefined,
  })
  return {
    makeVerifier,
    after(read: number, interrupting: () => Promise<unknown>): void {
      left = read
      work = interrupting
    },
    /** True once the work was done. */
    wasInterrupted: () => left <= 0,
  }
}

/** The store, with work of others after this many of its reads. */
export function interruptedStore(store: Store, reads: number, work: () => Promise<unknown>): Store {
  let left = reads
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const member = target[name]
      if (typeof member !== 'function' || name === 'state') return member
      return async (...args: unknown[]) => {
        const found = await Reflect.apply(member, target, args)
        left -= 1
        if (left === 0) await work()
        return found
      }
    },
  })
}
