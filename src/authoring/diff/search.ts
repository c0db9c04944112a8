import { canonicalJson } from '../../base/canonical.ts'
import { type Axis, axesOf } from './axes.ts'
import { baseOf, type Situation } from './situation.ts'
import { restraint, type Sets, type Witness, witnessIn } from './witness.ts'

/** Requests without another kind of difference after which the search about an action that shows one ends. */
const SETTLED = 1000

/** Searches for witnesses about one action. */
export function searchOf(sets: Sets, action: string, witnesses: Map<string, Witness>) {
  const base = baseOf(sets, action)
  const axes = axesOf(sets, action, base)
  const total = axes.reduce((product, { ways }) => product * ways.length, 1)
  let [cells, newestAt] = [0, 0]
  /** True when a request about this action is decided differently. */
  let shown = false
  const tryOne = (choice: readonly number[]): Witness | undefined => {
    cells += 1
    return witnessIn(sets, action, situationOf(base, axes, choice))
  }
  const note = (choice: readonly number[]): void => {
    const witness = tryOne(choice)
    if (witness === undefined) return
    const key = keyOf(witness)
    const known = witnesses.get(key)
    shown ||= witness.difference === 'decision'
    if (known !== undefined) return
    newestAt = cells
    witnesses.set(
      key,
      plainest(choice, axes, (other) => {
        const found = tryOne(other)
        return found !== undefined && keyOf(found) === key ? found : undefined
      }) ?? witness,
    )
  }
  const restraintOf = (choice: readonly number[]): number => {
    cells += 1
    return restraint(sets, action, situationOf(base, axes, choice))
  }
  return (limit: number): { cells: number; exhaustive: boolean } => {
    const isAll = total <= limit
    for (const choice of isAll ? allChoices(axes) : someChoices(axes, restraintOf)) {
      if (cells >= limit || (shown && cells - newestAt > SETTLED)) return { cells, exhaustive: false }
      note(choice)
    }
    return { cells, exhaustive: isAll }
  }
}

/** Witnesses of one kind: the same difference between the same grounds. */
function keyOf({ difference, from, to }: Witness): string {
  return canonicalJson([difference, from.decision, from.rule, from.decidedBy, to.decision, to.rule, to.decidedBy])
}

/** The witness with as few unusual choices as still show the same. */
function plainest(
  choice: readonly number[],
  axes: readonly Axis[],
  retry: (choice: readonly number[]) => Witness | undefined,
): Witness | undefined {
  let [best, witness] = [[...choice], undefined as Witness | undefined]
  for (const [i] of axes.entries()) {
    if (best[i] === 0) continue
    const plainer = best.map((way, j) => (i === j ? 0 : way))
    const found = retry(plainer)
    if (found !== undefined) [best, witness] = [plainer, found]
  }
  return witness
}

function* allChoices(axes: readonly Axis[]): Generator<number[]> {
  const choice = axes.map(() => 0)
  for (;;) {
    yield [...choice]
    let i = 0
    while (i < axes.length && (choice[i] ?? 0) + 1 === axes[i]?.ways.length) {
      choice[i] = 0
      i += 1
    }
    if (i === axes.length) return
    choice[i] = (choice[i] ?? 0) + 1
  }
}

/**
 * Choices where there are too many: each pair of ways of two facts among plain ones, around requests that little
 * restrains, then others by chance, the same ones each time.
 */
function* someChoices(axes: readonly Axis[], restraintOf: (choice: readonly number[]) => number): Generator<number[]> {
  const random = randomOf(1)
  // Every second one is plain: of a request that is whole, more can be seen than of one that nothing lets through.
  const wayOf = ({ ways }: Axis): number => (random() < 0.5 ? 0 : Math.floor(random() * ways.length))
  for (let round = 0; ; round += 1) {
    const center = round === 0 ? axes.map(() => 0) : calmed(axes.map(wayOf), axes, restraintOf)
    for (const [i, { ways }] of axes.entries()) {
      for (const [way] of ways.entries()) {
        const choice = center.map((chosen, j) => (i === j ? way : chosen))
        yield choice
        // With another fact too: conditions seldom need more than two at once to differ.
        const other = Math.floor(random() * axes.length)
        yield choice.map((chosen, j) => (j === other && j !== i ? wayOf(axes[j] ?? { name: '', ways: [] }) : chosen))
      }
    }
    for (let i = 0; i < axes.length * 4; i += 1) yield axes.map(wayOf)
  }
}

/** The choice with each fact in turn as it restrains least: what a changed rule does is not hidden by others. */
function calmed(choice: number[], axes: readonly Axis[], restraintOf: (choice: readonly number[]) => number): number[] {
  const best = [...choice]
  for (const [i, { ways }] of axes.entries()) {
    let least = restraintOf(best)
    for (const [way] of ways.entries()) {
      const other = best.map((chosen, j) => (i === j ? way : chosen))
      const amount = restraintOf(other)
      if (amount < least) [least, best[i]] = [amount, way]
    }
  }
  return best
}

/** Numbers from 0 to 1, the same ones each time (a linear congruential generator). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function situationOf(base: Situation, axes: readonly Axis[], choice: readonly number[]): Situation {
  const situation = {
    ...base,
    context: structuredClone(base.context),
    plan: structuredClone(base.plan),
    overTime: new Map<string, number>(),
    taken: undefined,
  }
  for (const [i, { ways }] of axes.entries()) ways[choice[i] ?? 0]?.(situation)
  return situation
}
