export interface Cidr {
  readonly version: 4 | 6
  readonly network: bigint
  readonly prefix: number
  /** True when the text had bits set beyond its prefix; they are ignored. */
  readonly hostBits: boolean
}

interface Address {
  version: 4 | 6
  value: bigint
}

const DECIMAL = /^(?:0|[1-9][0-9]{0,2})$/
const HEXTET = /^[0-9a-fA-F]{1,4}$/
// ::ffff:0:0/96, the form in which IPv6 sockets show IPv4 peers (RFC 4291 section 2.5.5.2).
const MAPPED = 0xffffn

/** Undefined unless `address/prefix`, with the prefix at most 32 or 128. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', prefixText = '', ...rest] = text.split('/')
  const parsed = parseAddress(address)
  if (parsed === undefined || rest.length > 0 || !DECIMAL.test(prefixText)) return undefined
  const width = parsed.version === 4 ? 32 : 128
  const prefix = Number(prefixText)
  if (prefix > width) return undefined
  const hostWidth = BigInt(width - prefix)
  const network = (parsed.value >> hostWidth) << hostWidth
  return { version: parsed.version, network, prefix, hostBits: network !== parsed.value }
}

/** Undefined when the text is no IP address. An IPv4-mapped IPv6 address counts as its IPv4 address. */
export function cidrContains(ranges: readonly Cidr[], text: string): boolean | undefined {
  const address = parseAddress(text)
  if (address === undefined) return undefined
  const { version, value } = unmapped(address)
  return ranges.some((range) => {
    if (range.version !== version) return false
    const hostWidth = BigInt((version === 4 ? 32 : 128) - range.prefix)
    return value >> hostWidth === range.network >> hostWidth
  })
}

function unmapped(address: Address): Address {
  if (address.version === 4 || address.value >> 32n !== MAPPED) return address
  return { version: 4, value: address.value & 0xffffffffn }
}

function parseAddress(text: string): Address | undefined {
  if (text.length > 45) return undefined
  const version = text.includes(':') ? 6 : 4
  const value = version === 6 ? parseV6(text) : parseV4(text)
  return value === undefined ? undefined : { version, value }
}

// No leading zeros: some readers take them as octal, so one text would be two addresses.
function parseV4(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => DECIMAL.test(part) && Number(part) <= 255)) return undefined
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n)
}

function parseV6(text: string): bigint | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = hextets(halves[0] ?? '', halves.length === 1)
  const tail = halves.length === 2 ? hextets(halves[1] ?? '', true) : []
  if (head === undefined || tail === undefined) return undefined
  const missing = 8 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  const zeros: bigint[] = new Array(missing).fill(0n)
  return [...head, ...zeros, ...tail].reduce((value, part) => (value << 16n) | part, 0n)
}

/** The 16-bit groups of one side of `::`; the last may be a dotted IPv4 address when it ends the text. */
function hextets(text: string, endsAddress: boolean): bigint[] | undefined {
  if (text === '') return []
  const groups: bigint[] = []
  const parts = text.split(':')
  for (const [i, part] of parts.entries()) {
    if (HEXTET.test(part)) {
      groups.push(BigInt(`0x${part}`))
      continue
    }
    const dotted = endsAddress && i === parts.length - 1 ? parseV4(part) : undefined
    if (dotted === undefined) return undefined
    groups.push(dotted >> 16n, dotted & 0xffffn)
  }
  return groups
}
