/** Time that a check waits for its set in shadow, where that takes time. */
const LIMIT_MS = 20
/** Time without evaluations after one that was too late: all of this waiting takes a twentieth of the time at most. */
const REST_MS = 400
/** Checks that wait for the turn of one set. */
const MAX_WAITING = 50

interface Waiting {
  begin(): void
  leave(): void
}

/** The evaluation of one set that takes time now, and those behind it. */
interface Turn {
  waiting: Waiting[]
  /** True once its check waits no longer, until it has ended and the set has rested. */
  isLate: boolean
}

export type ShadowTurns = ReturnType<typeof shadowTurns>

/**
 * Lets each set do one thing at once that takes time, such as reading what it counts: however many checks come, they pile
 * nothing up. A check gets undefined where it cannot wait; a history that is read later is there for the next one.
 */
export function shadowTurns() {
  const turns = new WeakMap<object, Turn>()

  const end = (key: object, turn: Turn): void => {
    if (turn.isLate) setTimeout(() => turns.delete(key), REST_MS).unref()
    else {
      const next = turn.waiting.shift()
      if (next === undefined) turns.delete(key)
      else next.begin()
    }
  }
  const inTime = <T>(key: object, turn: Turn, work: Promise<T>): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        turn.isLate = true
        for (const { leave } of turn.waiting.splice(0)) leave()
        resolve(undefined)
      }, LIMIT_MS)
      void work.then(resolve, reject).finally(() => {
        clearTimeout(timer)
        end(key, turn)
      })
    })
  const behind = <T>(key: object, turn: Turn, begin: () => T | Promise<T>): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer)
        resolve(undefined)
      }
      const waiting: Waiting = {
        leave,
        begin() {
          clearTimeout(timer)
          inTime(key, turn, begun(begin)).then(resolve, reject)
        },
      }
      const timer = setTimeout(() => {
        turn.waiting = turn.waiting.filter((other) => other !== waiting)
        leave()
      }, LIMIT_MS)
      turn.waiting.push(waiting)
    })

  return {
    /**
     * The result of `begin`, at once where it takes no time and nothing of the same set is under way; undefined where the
     * check cannot wait for it.
     *
     * @throws what `begin` throws
     */
    take<T>(key: object, begin: () => T | Promise<T>): T | undefined | Promise<T | undefined> {
      const turn = turns.get(key)
      if (turn !== undefined) {
        return turn.isLate || turn.waiting.length >= MAX_WAITING ? undefined : behind(key, turn, begin)
      }
      const work = begin()
      if (!(work instanceof Promise)) return work
      const first: Turn = { waiting: [], isLate: false }
      turns.set(key, first)
      return inTime(key, first, work)
    },
  }
}

/** The work as a promise, which an error rejects. */
async function begun<T>(begin: () => T | Promise<T>): Promise<T> {
  return begin()
}
