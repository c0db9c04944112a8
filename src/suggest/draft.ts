import { type Amendment, amended } from '../authoring/format/amend.ts'
import { flowYaml, plainText } from '../authoring/format/flow.ts'
import { formatDocument } from '../authoring/format/format.ts'
import type { PolicySource } from '../authoring/load/files.ts'
import { API_VERSION } from '../authoring/shapes/document.ts'
import { globsIntersect, parseGlob } from '../base/glob.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { visible } from '../base/visible.ts'
import type { PolicySet } from '../policies/set.ts'
import type { Proposal } from './proposal.ts'

/** A proposal with its name: that of the rule and of the condition that it adds. */
export interface Named extends Proposal {
  id: string
}

/** Policies into which proposals are worked. */
export interface Base {
  set: PolicySet
  source: PolicySource
}

/** Names for proposals, none of which the policies have. */
export function named({ rules, conditions }: PolicySet, proposals: readonly Proposal[]): Named[] {
  const taken = new Set([...rules.map(({ id }) => id), ...conditions.keys()])
  let number = 0
  return proposals.map((proposal) => {
    do number += 1
    while (taken.has(`suggested-${number}`))
    return { ...proposal, id: `suggested-${number}` }
  })
}

/** The policies with the proposals: rules are amended where they stand, and what is added is in a file of its own. */
export function draftOf({ set, source }: Base, proposals: readonly Named[], about: string): PolicySource {
  const texts = amended(source, proposals.flatMap(amendmentsOf))
  const encoder = new TextEncoder()
  const files = source.files.map((file) => {
    const text = texts.get(file.name)
    return text === undefined ? file : { ...file, bytes: encoder.encode(text) }
  })
  const name = freeName(source, '.yaml')
  return { ...source, files: [...files, { name, bytes: encoder.encode(addedText(set, proposals, about)) }] }
}

/** The name of a file that the folder does not have. */
export function freeName({ files, ignored, outside = [] }: PolicySource, ending: string): string {
  const taken = new Set([...files.map(({ name }) => name), ...ignored, ...outside])
  for (let number = 1; ; number += 1) {
    const name = `suggested${number === 1 ? '' : `-${number}`}${ending}`
    if (!taken.has(name)) return name
  }
}

/** An exception is made of every rule that holds, since a hold counts more than an allow. */
function amendmentsOf({ id, amendments, condition, rules }: Named): readonly Amendment[] {
  if (condition === undefined) return amendments
  return [...amendments, ...rules.map((rule) => ({ rule, also: { not: { condition: id } } }))]
}

function addedText({ tenant, facts }: PolicySet, proposals: readonly Named[], about: string): string {
  const declared =
    facts.size === 0 ? [] : proposals.flatMap((one) => [...one.facts]).filter(([path]) => !facts.has(path))
  const amending = proposals.filter(({ added, condition }) => added === undefined && condition === undefined)
  const conditions = proposals.flatMap((one) => (one.condition === undefined ? [] : conditionLines(one, one.condition)))
  const rules = proposals.flatMap((one) => ruleLines(one, proposals))
  const text = [
    comment(`${about}. Not in force: review each rule, and rewrite its reason.`),
    ...amending.map((one) => comment(`${one.id} ${saying(one)}`)),
    ...[`apiVersion: ${API_VERSION}`, `tenant: ${flowYaml(tenant)}`, ''],
    ...(declared.length === 0 ? [] : ['facts:']),
    ...Array.from(new Map(declared), ([path, type]) => `  ${flowYaml(path)}: ${flowYaml({ type })}`),
    ...(conditions.length === 0 ? [] : ['conditions:', ...conditions]),
    ...(rules.length === 0 ? [] : ['rules:', ...rules]),
    '',
  ].join('\n')
  const formatted = formatDocument('suggested.yaml', new TextEncoder().encode(text))
  // A text with a fault stays as it is, and the fault is found when the draft is compiled.
  return 'text' in formatted ? formatted.text : text
}

function saying({ effect, what, why }: Named): string {
  return `${effect}: ${what}. ${why}`
}

function conditionLines(proposal: Named, condition: Json): string[] {
  const { id, added } = proposal
  return [
    ...(added === undefined ? [comment(saying(proposal), '  ')] : []),
    `  ${flowYaml(id)}: ${flowYaml(condition)}`,
  ]
}

function ruleLines(proposal: Named, all: readonly Named[]): string[] {
  const { id, added, actions } = proposal
  if (added === undefined) return []
  const when = whenOf(proposal, all)
  return [
    comment(saying(proposal), '  '),
    `  - id: ${flowYaml(id)}`,
    `    actions: ${flowYaml([...actions])}`,
    `    effect: ${added.effect}`,
    `    reason: ${flowYaml(added.reason)}`,
    ...(when === null ? [] : [`    when: ${flowYaml(when)}`]),
  ]
}

/** A new hold does not hold again what another proposal allows. */
function whenOf({ id, added, condition, actions }: Named, all: readonly Named[]): Json {
  if (condition !== undefined) return { condition: id }
  const except = all
    .filter((one) => one.condition !== undefined && meet(one.actions, actions))
    .map((one): JsonObject => ({ not: { condition: one.id } }))
  const own = added?.when ?? null
  if (except.length === 0) return own
  return { all: [...(own === null ? [] : [own]), ...except] }
}

function meet(some: readonly string[], others: readonly string[]): boolean {
  const globs = others.flatMap((text) => parseGlob(text) ?? [])
  return some.flatMap((text) => parseGlob(text) ?? []).some((one) => globs.some((other) => globsIntersect(one, other)))
}

/** A comment on one line: no text of others ends it. */
function comment(text: string, indent = ''): string {
  return `${indent}# ${plainText(visible(text))}`
}
