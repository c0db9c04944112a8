import { type Glob, globsIntersect, parseGlob } from '../base/glob.ts'
import { placeText } from './declarations.ts'
import { type Entry, itemsOf, type Node, type Place, textOf } from './node.ts'
import type { Report } from './report.ts'

/** The action patterns of a list; those that are malformed are reported and left out. */
export function readGlobs(node: Node | undefined, report: Report): Glob[] {
  return placedGlobs(node, report).map(({ glob }) => glob)
}

interface PlacedGlob {
  glob: Glob
  place: Place
}

function placedGlobs(node: Node | undefined, report: Report): PlacedGlob[] {
  return itemsOf(node).flatMap((item) => {
    const text = textOf(item)
    if (text === undefined) return []
    const glob = parseGlob(text)
    if (glob !== undefined) return [{ glob, place: item }]
    const message = `${JSON.stringify(text)} is no action pattern: letters, digits and _ . : / - with * for a segment or part of one, ** for any number.`
    report.add('GATE1114', item, message)
    return []
  })
}

/** The domains by name; patterns of different domains that share an action are reported at both. */
export function readDomains(entries: ReadonlyMap<string, Entry>, report: Report): Map<string, readonly Glob[]> {
  const seen: (PlacedGlob & { domain: string })[] = []
  const domains = new Map<string, readonly Glob[]>()
  for (const [domain, { value }] of entries) {
    const globs = placedGlobs(value, report)
    for (const { glob, place } of globs) {
      for (const other of seen) {
        if (other.domain === domain || !globsIntersect(glob, other.glob)) continue
        reportOverlap(domain, { glob, place }, other, report)
        reportOverlap(other.domain, other, { domain, glob, place }, report)
      }
    }
    seen.push(...globs.map((placed) => ({ ...placed, domain })))
    domains.set(
      domain,
      globs.map(({ glob }) => glob),
    )
  }
  return domains
}

function reportOverlap(domain: string, own: PlacedGlob, other: PlacedGlob & { domain: string }, report: Report): void {
  const where = `${other.glob.text} of ${other.domain} (${placeText(other.place)})`
  report.add(
    'GATE1212',
    own.place,
    `${own.glob.text} of ${domain} meets ${where}; an action may be in one domain only.`,
  )
}
