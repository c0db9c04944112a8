import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { EVENTS } from '../src/audit/events.ts'
import { ERRORS } from '../src/base/errors.ts'
import { createProgram } from '../src/cli/program.ts'
import { flagOf, SETTING_NAMES, SETTINGS } from '../src/config.ts'
import { ROUTES, type RouteRule } from '../src/keys/roles.ts'

/**
 * Writes what README.md and docs/ take from the code: `npm run docs`. Each part stands between
 * `<!-- from the code: NAME -->` and `<!-- end -->`; a test fails when one is not as the code has it.
 */

const ROOT = new URL('../', import.meta.url)

/** The parts by name; each gives Markdown. */
const PARTS: Readonly<Record<string, () => string>> = {
  settings: () => table(['name', 'flag', 'variable', 'default', 'meaning'], settingRows()),
  endpoints: () => table(['endpoint', 'roles', 'limit', 'what it does'], endpointRows()),
  errors: () =>
    table(
      ['code', 'status', 'meaning'],
      Object.entries(ERRORS).map(([code, { status, meaning }]) => [`\`${code}\``, String(status), meaning]),
    ),
  commands: () => table(['command', 'what it does'], commandRows(createProgram(), [])),
  events: () =>
    table(
      ['event type', 'what it records'],
      Object.entries(EVENTS).map(([type, meaning]) => [`\`${type}\``, meaning]),
    ),
}

function settingRows(): string[][] {
  return SETTING_NAMES.map((name) => {
    const { env, help, default: value } = SETTINGS[name]
    const shown = value === null ? '' : String(value)
    return [`\`${name}\``, `\`${flagOf(name)}\``, `\`${env}\``, shown && `\`${shown}\``, help]
  })
}

function endpointRows(): string[][] {
  const rolesOf = ({ roles }: RouteRule): string => {
    if (roles === 'any') return 'every key'
    return roles === 'public' ? 'no key needed' : [...roles, 'owner', 'admin'].join(', ')
  }
  return Object.values(ROUTES).map((rule) => [
    `\`${rule.method} ${rule.path}\``,
    rolesOf(rule),
    rule.limit,
    rule.summary,
  ])
}

function commandRows(command: Command, path: readonly string[]): string[][] {
  if (command.commands.length === 0) return [[`\`${path.join(' ')}\``, command.description()]]
  return command.commands.flatMap((child) => commandRows(child, [...path, child.name()]))
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = header.map((name, i) => Math.max(name.length, ...escaped.map((row) => (row[i] ?? '').length)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  return [header, widths.map((width) => '-'.repeat(width)), ...escaped].map(line).join('\n')
}

const MARKED = /(<!-- from the code: ([a-z-]+) -->\n)[\s\S]*?(<!-- end -->)/g

/** The document with each marked part as the code has it. @throws Error for a part that is none */
export function filled(document: string): string {
  return document.replace(MARKED, (_, start: string, name: string, end: string) => {
    const part = PARTS[name]
    if (part === undefined) throw new Error(`there is no part ${name}; there are ${Object.keys(PARTS).join(', ')}`)
    return `${start}\n${part()}\n\n${end}`
  })
}

/** Names of the parts that stand somewhere in these documents. */
export function partsIn(documents: readonly string[]): Set<string> {
  return new Set(documents.flatMap((text) => Array.from(text.matchAll(MARKED), (match) => String(match[2]))))
}

export const PART_NAMES = Object.keys(PARTS)

/** Every document for readers, by its path from the root. */
export function documents(): Map<string, string> {
  const pages = readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' })
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.md'))
  const paths = ['README.md', ...pages.sort()]
  return new Map(paths.map((path) => [path, readFileSync(new URL(path, ROOT), 'utf8')]))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of documents()) {
    const wanted = filled(text)
    if (wanted === text) continue
    writeFileSync(new URL(path, ROOT), wanted)
    process.stdout.write(`${path} is written anew.\n`)
  }
}
