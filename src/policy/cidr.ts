/** A range of IP addresses. */
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

/** The range as it is written without bits beyond its prefix. */
export function cidrText({ version, network, prefix }: Cidr): string {
  const [parts, bits] = version === 4 ? [4, 8n] : [8, 16n]
  const groups = Array.from(
    { length: parts },
    (_, i) => (network >> (bits * BigInt(parts - 1 - i))) & ((1n << bits) - 1n),
  )
  if (version === 4) return `${groups.join('.')}/${prefix}`
  const text = groups.map((group) => group.toString(16)).join(':')
  return `${text.replace(/(?:(?:^|:)0){2,}$/, '::')}/${prefix}`
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

/** An address, `10.0.0.*`, `10.0/16`, or a range with spaces, brackets or a mask written for a range; undefined when none can be meant. */
export function meantCidr(text: string): string | undefined {
  const [address = '', prefix, ...others] = text.replace(/[\s[\]]/g, '').split('/')
  if (others.length > 0) return undefined
  const meant = prefix === undefined ? rangeOf(address) : `${fourParts(address)}/${prefixIn(prefix)}`
  return meant !== undefined && meant !== text && parseCidr(meant) !== undefined ? meant : undefined
}

function rangeOf(address: string): string | undefined {
  if (parseAddress(address) !== undefined) return `${address}/${address.includes(':') ? 128 : 32}`
  const [, fixed, stars = ''] = /^(\d+(?:\.\d+){0,2})((?:\.[*x]){1,3})$/.exec(address) ?? []
  return fixed && `${fixed}${stars.replace(/\.[*x]/g, '.0')}/${fixed.split('.').length * 8}`
}

/** `10.0` is 10.0.0.0. */
function fourParts(address: string): string {
  return /^\d+(?:\.\d+){0,2}$/.test(address) ? `${address}${'.0'.repeat(4 - address.split('.').length)}` : address
}

/** Without zeros before it; `255.255.0.0` is 16. */
function prefixIn(text: string): string {
  const bits = parseV4(text)?.toString(2).padStart(32, '0')
  return bits !== undefined && /^1*0*$/.test(bits) ? `${bits.replace(/0/g, '').length}` : text.replace(/^0+(?=\d)/, '')
}

function unmapped(address: Address): Address {
  if (address.version === 4 || address.value >> 32n !== MAPPED) return address
  return { version: 4, value: address.value & 0xffffffffn }
}

function parseAddress(text: string): Address | undefined {
  if (text.length > 45) return undefined
  if (text.includes(':')) {
    const value = parseV6(text)
    return value === undefined ? undefined : { version: 6, value }
  }
  const value = parseV4(text)
  return value === undefined ? undefined : { version: 4, value }
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
