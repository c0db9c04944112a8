import type { Report } from '../diagnostics/report.ts'
import { type Entry, entriesOf, itemsOf, keyOf, memberOf, type Node } from '../yaml/node.ts'
import { withEntries } from '../yaml/repeated-keys.ts'

/** The lists that are confused, each with the key that an item of the other one has. */
const LISTS = [
  {
    section: 'risk',
    other: 'rules',
    foreign: 'effect',
    own: 'weight',
    message: 'The key effect belongs to a rule. Put rules under rules, and risk factors under risk.',
  },
  {
    section: 'rules',
    other: 'risk',
    foreign: 'weight',
    own: 'effect',
    message: 'The key weight belongs to a risk factor. Put risk factors under risk, and rules under rules.',
  },
] as const

/** The document with each rule under `rules` and each factor under `risk`. Misplaced items are one fault, at the first. */
export function withSortedItems(root: Node, report: Report): Node {
  return LISTS.reduce((node, { section, other, foreign, own, message }) => {
    const list = node.entries?.get(section)
    const isForeign = (item: Node): boolean =>
      memberOf(item, foreign) !== undefined && memberOf(item, own) === undefined
    const misplaced = itemsOf(list?.value).filter(isForeign)
    const [first] = misplaced
    if (list === undefined || first === undefined) return node
    report.add('GATE1101', keyOf(first, foreign) ?? first, message)
    const target = node.entries?.get(other) ?? { ...list, name: other, value: withList(list.value, []) }
    const moved = new Map<string, Entry>([
      [
        section,
        {
          ...list,
          value: withList(
            list.value,
            itemsOf(list.value).filter((item) => !isForeign(item)),
          ),
        },
      ],
      [other, { ...target, value: withList(target.value, [...itemsOf(target.value), ...misplaced]) }],
    ])
    const kept = entriesOf(node).filter(({ name }) => !moved.has(name))
    return withEntries(node, [...kept, ...moved.values()])
  }, root)
}

function withList(node: Node, items: readonly Node[]): Node {
  return { ...node, items, value: items.map(({ value }) => value) }
}
