import { formatTimestamp } from '../../base/time.ts'
import { assertSame, assertSameEnds, assertSameEntries } from './compare.ts'
import { COPIED_TABLES } from './copied-tables.ts'
import { entryPages, tablePages } from './pages.ts'
import type { ChainEnds, Instance, Side, Watch } from './side.ts'
import { type Known, verifySide } from './verify.ts'

export interface CopyOptions extends Omit<Known, 'origin'> {
  source: Side
  /** A target that is not there yet is made once the source is verified. */
  target: { name: string; exists(): Promise<boolean>; open(): Promise<Side> }
  watch: Watch
}

export interface Copied {
  origin: string
  chains: { chain: string; entries: number }[]
  /** True if an earlier run had begun it. */
  resumed: boolean
}

/** The copy cannot begin, or cannot go on; the message says why. Nothing was lost. */
class CannotCopy extends Error {
  override readonly name = 'CannotCopy'
}

/**
 * Moves a trail to another store, entry for entry. Both sides are verified as a whole; then the source is marked as
 * moved, and last the target as finished. A process that ends before leaves an unfinished target, with which the next
 * run goes on.
 *
 * @throws CannotCopy, NoLogKey, AlteredFile naming the fault
 */
export async function copyTrail(options: CopyOptions): Promise<Copied> {
  const { source, target } = options
  const instance = await source.instance()
  if (instance === undefined) throw new CannotCopy(`There is no trail in ${source.name}.`)
  const isRetired = await movesTo(source, target.name)
  const ends = await source.ends()
  const chains = ends.map(({ name, first, length }) => ({ chain: name, entries: length - first }))
  let to: Side | undefined
  try {
    if (await target.exists()) to = await target.open()
    const begun = to === undefined ? 'nothing' : await begunIn(to, source, instance)
    if (begun === 'finished' && !isRetired)
      throw new CannotCopy(`${target.name} is not empty, and a copy never adds to a trail; name another target.`)
    if (begun !== 'finished') {
      const known = { ...options, origin: instance.origin }
      await verifySide(source, 'source', known, options.watch)
      to ??= await target.open()
      await move(to, { ...options, known, instance, ends, isBegun: begun === 'unfinished' })
    }
    return { origin: instance.origin, chains, resumed: begun !== 'nothing' }
  } finally {
    await to?.close()
  }
}

interface Move extends Pick<CopyOptions, 'source' | 'watch'> {
  known: Known
  instance: Instance
  ends: readonly ChainEnds[]
  isBegun: boolean
}

/** Copies what the target lacks, and hands the trail over once both sides are the same. */
async function move(to: Side, { source, watch, known, instance, ends, isBegun }: Move): Promise<void> {
  const at = formatTimestamp(known.nowMs)
  if (!isBegun) await to.begin(instance, { kind: 'copying', other: source.name, at })
  await copyAll(source, to, instance, ends, watch)
  await verifySide(to, 'target', known, watch)
  await assertSame(source, to)
  // Sidecars cannot append meanwhile. Anyone else who writes to the database can.
  assertSameEnds(await source.endsNow(), source.name, ends, to.name)
  await source.retire({ kind: 'moved', other: to.name, at })
  await to.finish()
}

/** True if an earlier run has handed the trail over to this target. @throws CannotCopy for one that must not be copied */
async function movesTo(source: Side, target: string): Promise<boolean> {
  const fence = await source.fence()
  if (fence === undefined) return false
  const { kind, other, at } = fence
  if (kind === 'copying')
    throw new CannotCopy(`${source.name} is itself an unfinished copy of ${other}; finish that first.`)
  if (other !== target)
    throw new CannotCopy(`The trail in ${source.name} was moved to ${other} at ${at}; copy it from there.`)
  return true
}

/** State in which an earlier run left the target. @throws CannotCopy for another trail */
async function begunIn(
  target: Side,
  source: Side,
  { origin }: Instance,
): Promise<'nothing' | 'unfinished' | 'finished'> {
  const fence = await target.fence()
  const found = await target.instance()
  if (found === undefined) return 'nothing'
  if (fence?.kind === 'moved')
    throw new CannotCopy(`The trail in ${target.name} was moved to ${fence.other}; name another target.`)
  if (found.origin !== origin)
    throw new CannotCopy(`${target.name} has another trail, and a copy never adds to one; name another target.`)
  if (fence === undefined) return 'finished'
  await assertPrefix(target, source)
  return 'unfinished'
}

/** Requires an unfinished copy to have nothing but what the source has. @throws CannotCopy */
async function assertPrefix(target: Side, source: Side): Promise<void> {
  const ends = new Map((await source.ends()).map((end) => [end.name, end]))
  for (const { name, first, length, hash } of await target.ends()) {
    if (length === 0) continue
    const [newest] = await source.entries(name, length - 1, 1)
    if (newest?.[0] !== length - 1 || newest[4] !== hash || ends.get(name)?.first !== first)
      throw new CannotCopy(
        `The unfinished copy in ${target.name} has entries of ${name} that are not in ${source.name}. Remove the copy, and begin again.`,
      )
  }
}

async function copyAll(
  source: Side,
  target: Side,
  instance: Instance,
  ends: readonly ChainEnds[],
  watch: Watch,
): Promise<void> {
  const begun = new Map((await target.ends()).map(({ name, length }) => [name, length]))
  for (const chain of ends) {
    const from = begun.get(chain.name) ?? 0
    if (from > chain.first)
      await watched(watch(`${chain.name}, comparing`, from - chain.first), (at) =>
        assertSameEntries(source, target, chain, at),
      )
    await watched(watch(`${chain.name}, copying`, chain.length - chain.first), (at) =>
      copyChain(source, target, chain, from, at),
    )
  }
  for (const table of COPIED_TABLES) {
    await target.clear(table)
    for await (const rows of tablePages(source, table)) await target.put(table, rows)
  }
  await target.putEnds(instance, ends)
}

function watched({ at, end }: ReturnType<Watch>, work: (at: ReturnType<Watch>['at']) => Promise<void>): Promise<void> {
  return work(at).finally(end)
}

/** Copies the entries of a chain from this seq on. */
async function copyChain(
  source: Side,
  target: Side,
  { name, first }: ChainEnds,
  from: number,
  at: (done: number) => void,
): Promise<void> {
  for await (const entries of entryPages(source, name, Math.max(first, from))) {
    await target.append(name, entries)
    at((entries.at(-1)?.[0] ?? first) + 1 - first)
  }
}
