import { grouped } from '../../base/grouped.ts'
import type { Report } from '../diagnostics/report.ts'
import {
  type Entry,
  entriesOf,
  itemsOf,
  keyOf,
  memberOf,
  type Node,
  type Place,
  positionOf,
  textOf,
} from '../yaml/node.ts'
import type { PolicyFile } from './read-files.ts'
import { SETTINGS, type Setting } from './settings.ts'

/** Collects the settings. Each may occur once; repetitions are reported at each place. */
export function collectSettings(files: readonly PolicyFile[], report: Report): Map<Setting, Node>[] {
  const settings: Map<Setting, Node>[] = [new Map()]
  for (const name of SETTINGS) {
    const places = files.flatMap(({ root }) => keyOf(root, name) ?? [])
    if (places.length > 1) {
      for (const place of places) {
        report.add('GATE1211', place, `${name} is also set at ${others(place, places)}; it may stand in one file only.`)
      }
    }
    const nodes = files.flatMap(({ root }) => memberOf(root, name) ?? [])
    for (const [i, node] of nodes.entries()) {
      const place = settings[i] ?? new Map<Setting, Node>()
      settings[i] = place.set(name, node)
    }
  }
  return settings
}

/** The entries of a section. */
export interface Section {
  /** Entries by name; the first of those with the same name. */
  readonly byName: ReadonlyMap<string, Entry>
  /** All entries, including repeated ones, which may be at fault too. */
  readonly all: readonly Entry[]
}

/** The entries of a section of all files, such as `lists` or `history.count`; a name that is declared twice is reported at each place. */
export function collectEntries(
  files: readonly PolicyFile[],
  section: string,
  report: Report,
  nameOf: (entry: Entry) => string = ({ name }) => name,
): Section {
  const entries = files.flatMap(({ root }) =>
    entriesOf(section.split('.').reduce((node: Node | undefined, key) => memberOf(node, key), root)),
  )
  const named = entries.map((entry) => ({ name: nameOf(entry), place: entry.key }))
  reportTwice('GATE1202', `under ${section}`, named, report)
  const byName = new Map<string, Entry>()
  for (const entry of entries) {
    const name = nameOf(entry)
    if (!byName.has(name)) byName.set(name, entry)
  }
  return { all: entries, byName }
}

/** The items of a list section of all files, in declared order; those with the same name are reported at each place. */
export function collectItems(files: readonly PolicyFile[], section: 'rules' | 'risk', report: Report): Node[] {
  const items = files.flatMap(({ root }) => itemsOf(memberOf(root, section)))
  const key = section === 'rules' ? 'id' : 'name'
  const named = items.flatMap((item) => {
    const place = memberOf(item, key)
    const name = textOf(place)
    return place === undefined || name === undefined ? [] : [{ name, place }]
  })
  if (section === 'rules') reportTwice('GATE1201', 'as a rule id', named, report)
  else reportTwice('GATE1202', 'as the name of a factor', named, report)
  return items
}

function reportTwice(
  code: 'GATE1201' | 'GATE1202',
  where: string,
  named: readonly { name: string; place: Place }[],
  report: Report,
): void {
  for (const { name, place, same } of repeated(named))
    report.add(code, place, `${JSON.stringify(name)} is also used ${where} at ${others(place, same)}.`)
}

/** Items that share their name with others, each with the places of all. */
export function repeated<T extends { name: string; place: Place }>(named: readonly T[]): (T & { same: Place[] })[] {
  const groups = [...grouped(named, ({ name }) => name).values()].filter((group) => group.length > 1)
  return groups.flatMap((group) => {
    const same = group.map(({ place }) => place)
    return group.map((one) => ({ ...one, same }))
  })
}

const MAX_OTHERS = 3

/** Other places of the same thing, as the end of a sentence. */
export function others(place: Place, places: readonly Place[]): string {
  const rest = places.filter((other) => other !== place)
  const shown = rest.slice(0, MAX_OTHERS).map(placeText).join(', ')
  return rest.length > MAX_OTHERS ? `${shown} and ${rest.length - MAX_OTHERS} more places` : shown
}

/** `acme/main.yaml:14:28`, as messages refer to a second place. */
export function placeText(place: Place): string {
  const { line, column } = positionOf(place.source, place.start)
  return `${place.source.file}:${line}:${column}`
}
