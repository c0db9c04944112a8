import { ACTION_PATTERN, type Glob, globsIntersect, parseGlob } from '../../base/glob.ts'
import type { Report } from '../diagnostics/report.ts'
import { plainWord } from '../suggest/closest.ts'
import { nameIn } from '../suggest/meant.ts'
import { type Entry, itemsOf, type Node, type Place, textOf } from '../yaml/node.ts'
import { placeText } from './declarations.ts'

/** Action patterns of a list; malformed ones are reported and left out. */
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
    const message = `${JSON.stringify(text)} is not an action pattern: letters, digits and _ . : / - with * for a segment or part of one, ** for any number.`
    report.add('GATE1114', item, message, meantGlob(text))
    return []
  })
}

/** A pattern without copied decoration; two stars beside a name become `*`, and more than two become `**`. */
function meantGlob(text: string): string | undefined {
  const plain = plainWord(text)
    .replace(/\?/g, '*')
    .replace(/\*{2,}/g, '**')
    .replace(/(?<=[^.*])\*\*|\*\*(?=[^.*])/g, '*')
    .replace(/^[-./:]+|[^A-Za-z0-9_*]+$/g, '')
  const joined = text.trim().replace(/\s*\.\s*/g, '.')
  const suggestion = /\s/.test(joined) ? nameIn(joined, ACTION_NAME) : plain
  return suggestion !== undefined && suggestion !== text && parseGlob(suggestion) !== undefined ? suggestion : undefined
}

const ACTION_NAME = new RegExp(ACTION_PATTERN)

interface DomainGlob extends PlacedGlob {
  domain: string
}

/** The domains by name; patterns of different domains that share an action are reported at both. */
export function readDomains(entries: readonly Entry[], report: Report): Map<string, readonly Glob[]> {
  const domains = new Map<string, readonly Glob[]>()
  // Patterns by first segment where that is plain: others share no action with them.
  const byStart = new Map<string, DomainGlob[]>()
  const anywhere: DomainGlob[] = []
  const all: DomainGlob[] = []
  for (const { name: domain, value } of entries) {
    const own = placedGlobs(value, report).map((placed) => ({ ...placed, domain }))
    for (const one of own) {
      const start = one.glob.segments[0] ?? ''
      const others = start.includes('*') ? [all] : [byStart.get(start) ?? [], anywhere]
      for (const some of others) reportOverlaps(one, some, report)
    }
    for (const one of own) {
      const start = one.glob.segments[0] ?? ''
      all.push(one)
      const same = start.includes('*') ? anywhere : (byStart.get(start) ?? [])
      same.push(one)
      if (same !== anywhere) byStart.set(start, same)
    }
    if (!domains.has(domain))
      domains.set(
        domain,
        own.map(({ glob }) => glob),
      )
  }
  return domains
}

/** False for patterns that differ in a plain segment before any `**`: a quick answer for most pairs. */
function mayMeet(a: Glob, b: Glob): boolean {
  for (let i = 0; i < a.segments.length; i += 1) {
    const mine = a.segments[i] ?? ''
    const theirs = b.segments[i]
    if (theirs === undefined || mine === '**' || theirs === '**') return true
    if (mine !== theirs && !mine.includes('*') && !theirs.includes('*')) return false
  }
  return true
}

function reportOverlaps(one: DomainGlob, others: readonly DomainGlob[], report: Report): void {
  for (const other of others) {
    // A domain that is declared twice has its own fault.
    if (other.domain === one.domain) continue
    if (!mayMeet(one.glob, other.glob) || !globsIntersect(one.glob, other.glob)) continue
    reportOverlap(one, other, report)
    reportOverlap(other, one, report)
  }
}

function reportOverlap(own: DomainGlob, other: DomainGlob, report: Report): void {
  const where = `${other.glob.text} of ${other.domain} (${placeText(other.place)})`
  const message = `${own.glob.text} of ${own.domain} meets ${where}; an action may be in one domain only.`
  report.add('GATE1212', own.place, message)
}
