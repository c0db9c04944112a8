import type { Pattern } from '../../base/pattern.ts'
import { LIMITS } from '../load/limits.ts'

export function tooManyParts({ size }: Pattern): string {
  return `The pattern has ${size} parts with its repetitions written out; at most ${LIMITS.patternParts} are allowed.`
}

/** Explains why a pattern does not compile, from the fault that RE2 gives. */
export function patternFault(fault: string, place: 'condition' | 'schema'): string {
  return `The pattern does not compile as RE2: ${fault}.${hint(fault, place)}`
}

function hint(fault: string, place: 'condition' | 'schema'): string {
  if (/\(\?<?[=!]|named capture/.test(fault)) {
    const instead =
      place === 'condition'
        ? 'write two conditions, or say the opposite with not:matches'
        : 'write two patterns under allOf, or say the opposite with not'
    return ` There is no looking ahead or behind; ${instead}.`
  }
  if (/invalid escape sequence: `\\[1-9]/.test(fault)) return ' There are no references to earlier groups.'
  if (/missing argument to repetition/.test(fault)) {
    const plain = place === 'condition' ? '; endsWith and startsWith ask for plain text' : ''
    return ` Any text is .* in a pattern${plain}.`
  }
  return ''
}
