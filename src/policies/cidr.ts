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
const IPV4 = 0xffffffffn
/** Reads the IPv4 address inside an IPv6 address; undefined for one that has another form. */
type Embedding = (value: bigint) => bigint | undefined

/** The form with this prefix before `below` bits, in which the IPv4 address is above `after` bits. */
function behind(prefix: bigint, below: bigint, after = below - 32n): Embedding {
  return (value) => (value >> below === prefix ? (value >> after) & IPV4 : undefined)
}

/** ::ffff:0:0/96, the form in which IPv6 sockets show IPv4 peers (RFC 4291 section 2.5.5.2): another way to write IPv4. */
const mappedIn = behind(0xffffn, 32n)
/** IPv6 addresses by which an IPv4 address is reached, besides being addresses of their own. */
const REACHING: readonly Embedding[] = [
  // ::a.b.c.d, IPv4-compatible (RFC 4291, 2.5.5.1)
  behind(0n, 32n),
  // ::ffff:0:a.b.c.d, IPv4-translated (RFC 2765, 2.1)
  behind(0xffff0000n, 32n),
  // 64:ff9b::a.b.c.d, NAT64 (RFC 6052, 2.1)
  behind(0x64ff9bn << 64n, 32n),
  // 64:ff9b:1:…:a.b.c.d, NAT64 of local use (RFC 8215), by a prefix of 96 bits
  behind(0x64ff9b0001n, 80n, 0n),
  // 2002:aabb:ccdd::, 6to4 (RFC 3056, 2)
  behind(0x2002n, 112n),
  // 2001:0:…, Teredo: the client's address with each bit inverted (RFC 4380, 4)
  (value) => (value >> 96n === 0x20010000n ? (value & IPV4) ^ IPV4 : undefined),
  // …:0:5efe:a.b.c.d and …:200:5efe:a.b.c.d, ISATAP (RFC 5214, 6.1)
  (value) => (((value >> 32n) & 0xfdffffffn) === 0x5efen ? value & IPV4 : undefined),
]
/** `::` and `::1` are not compatible forms of 0.0.0.0 and 0.0.0.1. */
const LOOPBACK = 1n

/** Undefined unless `address/prefix`, with the prefix at most 32 or 128. A range of IPv4-mapped addresses is one of IPv4. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', prefixText = '', ...rest] = text.split('/')
  const parsed = parseAddress(address)
  if (parsed === undefined || rest.length > 0 || !DECIMAL.test(prefixText)) return undefined
  const width = parsed.version === 4 ? 32 : 128
  const prefix = Number(prefixText)
  if (prefix > width) return undefined
  const hostWidth = BigInt(width - prefix)
  const network = (parsed.value >> hostWidth) << hostWidth
  const hostBits = network !== parsed.value
  const mapped = parsed.version === 6 && prefix >= 96 ? mappedIn(parsed.value) : undefined
  if (mapped === undefined) return { version: parsed.version, network, prefix, hostBits }
  return { version: 4, network: network & IPV4, prefix: prefix - 96, hostBits }
}

/**
 * True for an address in one of the ranges, and for an IPv6 address by which an IPv4 address in them is reached.
 * Undefined when the text is not an IP address.
 */
export function cidrContains(ranges: readonly Cidr[], text: string): boolean | undefined {
  const address = parseAddress(text)
  if (address === undefined) return undefined
  const readings = readingsOf(address)
  return ranges.some((range) =>
    readings.some(({ version, value }) => {
      if (range.version !== version) return false
      const hostWidth = BigInt((version === 4 ? 32 : 128) - range.prefix)
      return value >> hostWidth === range.network >> hostWidth
    }),
  )
}

/** The addresses that one text stands for. */
function readingsOf(address: Address): Address[] {
  if (address.version === 4) return [address]
  const mapped = mappedIn(address.value)
  if (mapped !== undefined) return [{ version: 4, value: mapped }]
  if (address.value <= LOOPBACK) return [address]
  const reached = REACHING.flatMap((read) => read(address.value) ?? [])
  return [address, ...reached.map((value) => ({ version: 4 as const, value }))]
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
