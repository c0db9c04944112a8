import type { RequiredReplay } from '../actions/policies/admission.ts'
import { isJsonObject, type Json } from '../base/json.ts'
import type { Shape } from '../base/value-shape.ts'

/** A count of seconds, minutes or hours up to 999, or of days up to 90. */
const SINCE = /^(?:[1-9]\d{0,2}[smh]|(?:[1-9]|[1-8]\d|90)d)$/
const MAX_COUNT = 1_000_000

const count = { type: 'integer', minimum: 0, maximum: MAX_COUNT, examples: [0, 10] }

/** The bounds of a replay, or null; `since=7d,maxNewAllows=0,maxNewDenies=10` in a text. */
export const requiredReplay: Shape<RequiredReplay | null> = {
  schema: {
    type: ['object', 'null'],
    properties: {
      since: {
        type: 'string',
        pattern: SINCE.source,
        description: 'Length of the range of requests, and time for which the replay counts.',
        examples: ['7d'],
      },
      maxNewAllows: { ...count, description: 'Requests that the set may newly allow.' },
      maxNewDenies: { ...count, description: 'Requests that the set may newly deny.' },
    },
    required: ['since', 'maxNewAllows', 'maxNewDenies'],
    additionalProperties: false,
  },
  fromText(given) {
    const members = given.split(',').map((part): [string, Json] => {
      const [name = '', value = ''] = part.split('=').map((side) => side.trim())
      return [name, /^\d{1,7}$/.test(value) ? Number(value) : value]
    })
    // A name that is given twice leaves the text, which is refused.
    return new Set(members.map(([name]) => name)).size === members.length ? Object.fromEntries(members) : given
  },
  read(value) {
    if (value === null || !isJsonObject(value)) return value === null ? null : undefined
    const { since, maxNewAllows, maxNewDenies, ...others } = value
    if (Object.keys(others).length > 0 || !isCount(maxNewAllows) || !isCount(maxNewDenies)) return undefined
    if (typeof since !== 'string' || !SINCE.test(since)) return undefined
    return { since, maxNewAllows, maxNewDenies }
  },
}

function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_COUNT
}
