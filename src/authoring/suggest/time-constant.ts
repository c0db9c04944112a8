import { parseDate, parseRfc3339 } from '../../base/time.ts'

/** Explains why a text is not a time. */
export function timeSentence(text: string): string {
  const [, date = '', month = '', hour = '0', minute = '0', second = '0'] =
    /^(\d{4}-(\d{2})-\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2}))?)?/.exec(text) ?? []
  if (date !== '' && parseDate(date) === undefined) {
    return Number(month) > 12 || month === '00' ? `There is no month ${month}.` : `There is no day ${date}.`
  }
  if (Number(hour) > 23) return `There is no hour ${hour}; the hours of a day are 00 to 23.`
  if (Number(minute) > 59) return `There is no minute ${minute}; the minutes of an hour are 00 to 59.`
  if (Number(second) > 59) return `There is no second ${second}; the seconds of a minute are 00 to 59.`
  const written = WRITTEN.exec(dashed(text))
  if (written !== null && written[5] === undefined)
    return `${JSON.stringify(text)} has no time zone. Write 2026-01-31T09:00:00Z for UTC, or an offset such as +01:00 in place of Z.`
  return `${JSON.stringify(text)} is not a time with a zone such as 2026-01-31T09:00:00Z.`
}

const WRITTEN =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt_ ]+(\d{2}:\d{2})(:\d{2})?(\.\d+)?)?\s*(Z|z|UTC|GMT|[+-]\d{2}:?\d{2}|[+-]\d{2})?$/

/** The RFC 3339 time meant by one of another form. Undefined without a zone: an hour in UTC is another one elsewhere. */
export function timeIn(text: string): string | undefined {
  const [, date, clock = '00:00', seconds = ':00', fraction = '', zone] = WRITTEN.exec(dashed(text)) ?? []
  if (date === undefined || zone === undefined) return undefined
  const offset = /^[+-]/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}` : 'Z'
  const meant = `${date}T${clock}${seconds}${fraction.slice(0, 10)}${offset}`
  return parseRfc3339(meant) === undefined ? undefined : meant
}

/** The text with its date in the form of RFC 3339. A date whose day could be the month stays as it is. */
function dashed(text: string): string {
  const two = (digits: string) => digits.padStart(2, '0')
  return text
    .trim()
    .replace(/^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/, (_, year, month, day) => `${year}-${two(month)}-${two(day)}`)
    .replace(/^(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)/, (_, day, month, year) => `${year}-${two(month)}-${two(day)}`)
    .replace(/^(\d{4})(\d{2})(\d{2})(?!\d)/, '$1-$2-$3')
    .replace(
      /(?<=-\d{2}[Tt])(\d{2})(\d{2})(\d{2})?(?!\d)/,
      (_, hour, minute, second = '00') => `${hour}:${minute}:${second}`,
    )
}

/** The time meant by seconds or milliseconds since 1970; undefined for numbers that are neither in our time. */
export function timeOfEpoch(value: number): string | undefined {
  if (!Number.isInteger(value) || value < 1e9) return undefined
  const ms = value < 1e10 ? value * 1000 : value
  return ms >= 1e12 && ms < 1e13 ? new Date(ms).toISOString().replace('.000Z', 'Z') : undefined
}
