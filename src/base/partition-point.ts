/**
 * How many items come before the first for which the predicate does not hold, by halving: it holds for all before that one,
 * and for none from it on.
 *
 * @param length how many items there are
 * @param holds what is asked of the item at an index
 */
export function partitionPoint(length: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) low = middle + 1
    else high = middle
  }
  return low
}
