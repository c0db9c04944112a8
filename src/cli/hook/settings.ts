import { createReport } from '../../authoring/diagnostics/report.ts'
import { LIMITS } from '../../authoring/load/limits.ts'
import { jsonNodes } from '../../authoring/yaml/json-nodes.ts'
import { memberOf, type Node, sourceOf, textOf } from '../../authoring/yaml/node.ts'
import { GateError } from '../../base/errors.ts'
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts'

/** A member of `hooks` in the settings of Claude Code: hooks for the matching tools. */
export interface HookGroup {
  event: 'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure'
  group: JsonObject
}

/** The settings cannot be changed in their present state. The message says why, after the name of the file. */
export class UnusableSettings extends Error {
  override readonly name = 'UnusableSettings'
}

/** The hook of this program, with any author and any path of the program. */
const OURS = /\bgate-sidecar(?:\.js)?['"]? hook claude-code\b/

/**
 * The text with these groups: new ones at the end of their lists, those of an earlier installation replaced.
 * All other text, spaces and line breaks too, stays unchanged.
 *
 * @throws UnusableSettings
 */
export function withHooks(text: string, groups: readonly HookGroup[]): string {
  return groups.reduce(withGroup, text)
}

function withGroup(text: string, { event, group }: HookGroup): string {
  const root = rootOf(text)
  const hooks = memberOf(root, 'hooks')
  if (hooks === undefined) return withMember(root, 'hooks', { [event]: [group] })
  if (hooks.entries === undefined) throw new UnusableSettings('has a member hooks that is not an object')
  const list = memberOf(hooks, event)
  if (list === undefined) return withMember(hooks, event, [group])
  if (list.items === undefined) throw new UnusableSettings(`has a member hooks.${event} that is not a list`)
  const [own, second] = list.items.filter(isOurs)
  if (own === undefined) return withItem(list, group)
  if (second !== undefined || memberOf(own, 'hooks')?.items?.length !== 1)
    throw new UnusableSettings(`has the hook in hooks.${event} more than once, or next to others; remove it first`)
  return JSON.stringify(own.value) === JSON.stringify(group) ? text : replaced(own, rendered(own, group))
}

function isOurs(group: Node): boolean {
  return memberOf(group, 'hooks')?.items?.some((hook) => OURS.test(textOf(memberOf(hook, 'command')) ?? '')) === true
}

/** @throws UnusableSettings for text other than a JSON object, and for settings under which no hook runs */
function rootOf(text: string): Node {
  let settings: Json
  try {
    settings = parseJson(text, { maxDepth: LIMITS.depth })
  } catch (error) {
    if (error instanceof GateError) throw new UnusableSettings(`is not valid JSON: ${error.message.slice(0, -1)}`)
    throw error
  }
  const root = isJsonObject(settings) ? jsonNodes(sourceOf('', text), createReport()) : undefined
  if (root === undefined) throw new UnusableSettings('is not a JSON object')
  if (memberOf(root, 'disableAllHooks')?.value === true)
    throw new UnusableSettings('has disableAllHooks: true, which keeps every hook from running; remove it first')
  return root
}

function withMember(object: Node, name: string, value: Json): string {
  return inserted(object, `${JSON.stringify(name)}: `, value)
}

function withItem(list: Node, value: Json): string {
  return inserted(list, '', value)
}

/** Appends a value to a container, on a line of its own if the last one has one. */
function inserted(container: Node, label: string, value: Json): string {
  const { text } = container.source
  const last = lastIn(container)
  if (last === undefined) {
    const outer = indentAt(text, container.start)
    const inner = outer + unitOf(text)
    const [open, close] = container.items === undefined ? '{}' : '[]'
    return replaced(
      container,
      `${open}${eolOf(text)}${inner}${label}${json(text, value, inner)}${eolOf(text)}${outer}${close}`,
    )
  }
  const before = text.slice(text.lastIndexOf('\n', last.start) + 1, last.start)
  const isAlone = /^[ \t]*$/.test(before)
  const piece = isAlone
    ? `,${eolOf(text)}${before}${label}${json(text, value, before)}`
    : `, ${label}${JSON.stringify(value)}`
  return text.slice(0, last.end) + piece + text.slice(last.end)
}

/** The span of the last member or item; undefined when there is none. */
function lastIn({ entries, items }: Node): { start: number; end: number } | undefined {
  if (items !== undefined) return items.at(-1)
  const entry = [...(entries?.values() ?? [])].at(-1)
  return entry && { start: entry.key.start, end: entry.value.end }
}

function replaced({ source, start, end }: Node, text: string): string {
  return source.text.slice(0, start) + text + source.text.slice(end)
}

function rendered({ source, start }: Node, value: Json): string {
  return json(source.text, value, indentAt(source.text, start))
}

/** The value in the style of the text; `indent` begins each line but the first. */
function json(text: string, value: Json, indent: string): string {
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', eolOf(text) + indent)
}

/** The leading white space of the line at an offset. */
function indentAt(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at) + 1))?.[0] ?? ''
}

/** One step of indentation: that of the first indented line. */
function unitOf(text: string): string {
  return /^(?:\t|[ ]+)(?=\S)/m.exec(text)?.[0] ?? '  '
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}
