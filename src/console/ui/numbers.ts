/** Numbers in the viewer's locale. */

const plain = new Intl.NumberFormat()
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })
const precise = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 })

/** `1,204` */
export function countText(count: number): string {
  return plain.format(count)
}

/** The short form, for narrow places: `1.2K`. */
export function shortCount(count: number): string {
  return compact.format(count)
}

/** `2.5%`; a share of nothing has no text. */
export function shareText(part: number, whole: number): string {
  return whole === 0 ? '–' : percent.format(part / whole)
}

/** `1.42 ms` */
export function msText(ms: number): string {
  return `${precise.format(ms)} ms`
}

/** `12.3 kB` */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`
  const [size, unit] = bytes < 1_000_000 ? [bytes / 1000, 'kB'] : [bytes / 1_000_000, 'MB']
  return `${precise.format(size)} ${unit}`
}
