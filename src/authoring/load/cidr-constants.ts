import type { Json } from '../../base/json.ts'
import { type Cidr, parseCidr } from '../../policies/cidr.ts'
import type { ValueFault } from '../diagnostics/diagnostics.ts'

/** Faults of an address range, or of a list of them. @param notText the fault of a value that is not a text */
export function cidrFaults(value: Json | undefined, notText: ValueFault): ValueFault[] {
  const texts = Array.isArray(value) ? value : [value]
  if (texts.length === 0) return [{ code: 'GATE1314', message: 'inCidr needs at least one range.' }]
  const faults: ValueFault[] = []
  const doubts: ValueFault[] = []
  for (const [i, text] of texts.entries()) {
    const item = Array.isArray(value) ? i : undefined
    const range = typeof text === 'string' ? parseCidr(text) : undefined
    if (typeof text !== 'string') faults.push({ ...notText, item })
    else if (range === undefined) faults.push(malformedCidr(text, item))
    else if (range.hostBits) {
      const message = `${text} has bits beyond its prefix; they are ignored.`
      doubts.push({ code: 'GATE2008', message, item, suggestion: cidrText(range) })
    }
  }
  return [...faults, ...doubts]
}

function malformedCidr(text: string, item: number | undefined): ValueFault {
  const [address = '', prefix = ''] = text.split('/')
  const most = address.includes(':') ? 128 : 32
  const isTooLong = /^\d+$/.test(prefix) && Number(prefix) > most && parseCidr(`${address}/${most}`) !== undefined
  const hint = isTooLong ? `; the number after the / is at most ${most}` : ''
  const message = `${JSON.stringify(text)} is not an address range such as 10.0.0.0/8 or 2001:db8::/32${hint}.`
  return { code: 'GATE1306', message, item, suggestion: meantCidr(text) }
}

/** The range as it is written without bits beyond its prefix. */
function cidrText({ version, network, prefix }: Cidr): string {
  const [parts, bits] = version === 4 ? [4, 8n] : [8, 16n]
  const groups = Array.from(
    { length: parts },
    (_, i) => (network >> (bits * BigInt(parts - 1 - i))) & ((1n << bits) - 1n),
  )
  if (version === 4) return `${groups.join('.')}/${prefix}`
  const text = groups.map((group) => group.toString(16)).join(':')
  return `${text.replace(/(?:(?:^|:)0){2,}$/, '::')}/${prefix}`
}

/**
 * The range meant by an address, `10.0.0.*`, `10.0/16`, or a range with spaces, brackets or a mask; undefined when
 * none can be meant.
 */
function meantCidr(text: string): string | undefined {
  const [address = '', prefix, ...others] = text.replace(/[\s[\]]/g, '').split('/')
  if (others.length > 0) return undefined
  const meant = prefix === undefined ? rangeOf(address) : `${fourParts(address)}/${prefixIn(prefix)}`
  return meant !== undefined && meant !== text && parseCidr(meant) !== undefined ? meant : undefined
}

function rangeOf(address: string): string | undefined {
  if (parseCidr(`${address}/0`) !== undefined) return `${address}/${address.includes(':') ? 128 : 32}`
  const [, fixed, stars = ''] = /^(\d+(?:\.\d+){0,2})((?:\.[*x]){1,3})$/.exec(address) ?? []
  return fixed && `${fixed}${stars.replace(/\.[*x]/g, '.0')}/${fixed.split('.').length * 8}`
}

/** `10.0` is 10.0.0.0. */
function fourParts(address: string): string {
  return /^\d+(?:\.\d+){0,2}$/.test(address) ? `${address}${'.0'.repeat(4 - address.split('.').length)}` : address
}

/** The prefix length without leading zeros; the mask `255.255.0.0` is 16. */
function prefixIn(text: string): string {
  const mask = parseCidr(`${text}/32`)
  const bits = mask?.version === 4 ? mask.network.toString(2).padStart(32, '0') : undefined
  return bits !== undefined && /^1*0*$/.test(bits) ? `${bits.replace(/0/g, '').length}` : text.replace(/^0+(?=\d)/, '')
}
