import type { Json } from '../../base/json.ts'
import { visibleJson } from '../../base/visible.ts'
import { createReport } from '../diagnostics/report.ts'
import type { PolicySource } from '../load/files.ts'
import { readFiles } from '../load/read-files.ts'
import { itemsOf, keyOf, memberOf, type Node, textOf } from '../yaml/node.ts'
import { flowYaml } from './flow.ts'
import { type Splice, spliced } from './splices.ts'

/** A change of one rule, by its id. */
export type Amendment =
  /** It applies only where this condition holds as well. */
  | { rule: string; also: Json }
  /** Patterns of its actions, each with the patterns in its place. */
  | { rule: string; actions: ReadonlyMap<string, readonly string[]> }

/**
 * The policy files that amendments change, by name. All that they do not name, comments too, stays as it is written.
 *
 * @param source of a set without faults
 */
export function amended(source: PolicySource, amendments: readonly Amendment[]): Map<string, string> {
  const texts = new Map<string, string>()
  for (const { name, root } of readFiles(source, createReport()).policies) {
    const write = name.endsWith('.json') ? visibleJson : flowYaml
    const splices = itemsOf(memberOf(root, 'rules')).flatMap((rule) => {
      const own = amendments.filter((one) => one.rule === textOf(memberOf(rule, 'id')))
      const also = own.flatMap((one) => ('also' in one ? [one.also] : []))
      const actions = new Map(own.flatMap((one) => ('actions' in one ? [...one.actions] : [])))
      return [...(also.length === 0 ? [] : restricted(rule, also, write)), ...narrowed(rule, actions, write)]
    })
    if (splices.length > 0) texts.set(name, spliced(root.source.text, splices))
  }
  return texts
}

type Write = (value: Json) => string

function restricted(rule: Node, also: readonly Json[], write: Write): Splice[] {
  const { text } = rule.source
  const when = memberOf(rule, 'when')
  const reason = keyOf(rule, 'reason')
  if (when === undefined) {
    if (reason === undefined) return []
    const { start } = reason
    const [only, ...others] = also
    const member = `${write('when')}: ${write(others.length === 0 ? (only ?? null) : { all: [...also] })}`
    const next = text[rule.start] === '{' ? ', ' : `\n${spacesBefore(text, start)}`
    return [{ start, end: start, text: `${member}${next}` }]
  }
  const { start, end } = when
  const own = text.slice(start, end)
  if (own.startsWith('{')) {
    const items = [...also.map(write), own].join(', ')
    const all = write('all')
    return [{ start, end, text: write === flowYaml ? `{ ${all}: [${items}] }` : `{${all}:[${items}]}` }]
  }
  // The last item keeps the comment at its end.
  const indent = spacesBefore(text, start)
  const items = [...also.map(write), own.replace(/\n(?=[^\n])/g, '\n    ')].map((item) => `\n${indent}  - ${item}`)
  return [{ start, end, text: `all:${items.join('')}` }]
}

/** Spaces as wide as what stands before a place on its line. */
function spacesBefore(text: string, at: number): string {
  return ' '.repeat(at - text.lastIndexOf('\n', at - 1) - 1)
}

function narrowed(rule: Node, actions: ReadonlyMap<string, readonly string[]>, write: Write): Splice[] {
  const list = memberOf(rule, 'actions')
  const items = itemsOf(list)
  const there = new Set(items.flatMap(({ value }) => (actions.has(String(value)) ? [] : [String(value)])))
  const isFlow = list?.source.text[list.start] === '['
  return items.flatMap(({ value, source: { text }, start, end }) => {
    const names = actions.get(String(value)) ?? []
    const missing = names.filter((name) => !there.has(name))
    for (const name of names) there.add(name)
    // A list keeps an item for each that it had.
    const wanted = missing.length === 0 ? names.slice(0, 1) : missing
    if (wanted.length === 0) return []
    const next = isFlow ? ', ' : `\n${text.slice(text.lastIndexOf('\n', start - 1) + 1, start)}`
    return [{ start, end, text: wanted.map(write).join(next) }]
  })
}
