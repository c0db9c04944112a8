/** Count of entries or events, below 10^15. */
const COUNT = '(0|[1-9][0-9]{0,14})'
/** Limit of lanes in a position, which is a header of requests. */
const MAX_LANES = 256

/** The form of every position: a number for each chain that the key follows, then one for each lane behind its number. */
export const POSITION_PATTERN = `^${COUNT}(-${COUNT}){0,2}(~[1-9][0-9]{0,6}:${COUNT}){0,${MAX_LANES}}$`
const POSITION = new RegExp(POSITION_PATTERN)

export interface Position {
  counts: readonly number[]
  /** By number, ascending. A lane without entries may be left out. */
  lanes: readonly LaneCount[]
}

interface LaneCount {
  lane: number
  count: number
}

export function positionText({ counts, lanes }: Position): string {
  return counts.join('-') + lanes.map(({ lane, count }) => (count === 0 ? '' : `~${lane}:${count}`)).join('')
}

/** Parses a position; undefined for a text of another form. */
export function parsePosition(text: string): Position | undefined {
  if (!POSITION.test(text)) return undefined
  const [counts = '', ...parts] = text.split('~')
  const lanes = parts.map((part): LaneCount => {
    const [lane = 0, count = 0] = part.split(':').map(Number)
    return { lane, count }
  })
  const isAscending = lanes.every(({ lane }, i) => lane > (lanes[i - 1]?.lane ?? 0))
  return isAscending ? { counts: counts.split('-').map(Number), lanes } : undefined
}
