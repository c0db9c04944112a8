import { ENVIRONMENTS } from '../../base/environment.ts'
import type { Json } from '../../base/json.ts'
import { WEEKDAYS } from '../load/fact-names.ts'
import { closest } from './closest.ts'

/** The value that was meant in place of one that a built-in fact never has. Days are also counted, from Monday as 1. */
export function occurring(name: string, value: Json): Json | undefined {
  if (typeof value === 'string') return meantValue(name, value)
  return name === 'time.weekday' && typeof value === 'number' ? WEEKDAYS[(value + 6) % 7] : undefined
}

function meantValue(name: string, value: string): Json | undefined {
  if (name === 'time.hour') {
    const hour = Number(/^(\d{1,2}):00$/.exec(value)?.[1])
    return hour <= 23 ? hour : undefined
  }
  // A range of days does not mean its first alone.
  if (name === 'time.weekday')
    return /^[a-z]+\.?$/i.test(value) ? WEEKDAYS.find((day) => day === value.slice(0, 3).toLowerCase()) : undefined
  if (name !== 'environment') return undefined
  return /^prod/i.test(value) ? 'live' : (closest(value, ENVIRONMENTS) ?? 'test')
}
