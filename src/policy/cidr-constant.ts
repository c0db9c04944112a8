import type { Json } from '../base/json.ts'
import { type Cidr, cidrContains, cidrText, meantCidr, parseCidr } from './cidr.ts'
import { type CompileResult, fault, type Test, truth, unsuitable, type ValueFault } from './constants.ts'

/** Compiles a range of addresses, or a list of them. */
export function compileCidr(operator: { name: string }, value: Json | undefined): CompileResult {
  const texts = Array.isArray(value) ? value : [value]
  if (texts.length === 0) return fault({ code: 'GATE1314', message: 'inCidr needs at least one range.' })
  const ranges: Cidr[] = []
  const faults: ValueFault[] = []
  const doubts: ValueFault[] = []
  for (const [i, text] of texts.entries()) {
    const item = Array.isArray(value) ? i : undefined
    const range = typeof text === 'string' ? parseCidr(text) : undefined
    if (typeof text !== 'string') {
      faults.push({ ...unsuitable(operator, 'an address range, or a list of them').faults[0], item })
    } else if (range === undefined) faults.push(malformedCidr(text, item))
    else ranges.push(range)
    if (range?.hostBits === true) {
      const message = `${text} has bits beyond its prefix; they are ignored.`
      doubts.push({ code: 'GATE2008', message, item, suggestion: cidrText(range) })
    }
  }
  if (faults.length > 0) return { faults: [...faults, ...doubts] }
  const test: Test = (seen) => {
    const inside = typeof seen === 'string' ? cidrContains(ranges, seen) : undefined
    return inside === undefined ? 'unknown' : truth(inside)
  }
  return { test, doubts }
}

function malformedCidr(text: string, item: number | undefined): ValueFault {
  const [address = '', prefix = ''] = text.split('/')
  const most = address.includes(':') ? 128 : 32
  const isTooLong = /^\d+$/.test(prefix) && Number(prefix) > most && parseCidr(`${address}/${most}`) !== undefined
  const hint = isTooLong ? `; the number after the / is at most ${most}` : ''
  const message = `${JSON.stringify(text)} is no address range such as 10.0.0.0/8 or 2001:db8::/32${hint}.`
  return { code: 'GATE1306', message, item, suggestion: meantCidr(text) }
}
