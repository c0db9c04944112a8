/**
 * Counts the items before the first one that fails the predicate, by binary search. The predicate must hold for all
 * items before that one and for none from it on.
 *
 * @param length number of items
 * @param holds predicate of the item at an index
 * @param near a probable result: the search takes a few steps from there, instead of as many as `length` has bits
 */
export function partitionPoint(length: number, holds: (index: number) => boolean, near?: number): number {
  let [low, high] = near === undefined ? [0, length] : around(length, holds, Math.min(Math.max(near, 0), length))
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2)
    if (holds(middle)) low = middle + 1
    else high = middle
  }
  return low
}

/** Bounds of the result, by steps from an index that double. */
function around(length: number, holds: (index: number) => boolean, near: number): [low: number, high: number] {
  let step = 1
  if (near < length && holds(near)) {
    let low = near + 1
    for (; low + step <= length && holds(low + step - 1); step *= 2) low += step
    return [low, Math.min(length, low + step - 1)]
  }
  let high = near
  for (; high >= step && !holds(high - step); step *= 2) high -= step
  return [Math.max(0, high - step + 1), high]
}
