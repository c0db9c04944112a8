import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Command } from 'commander'
import { ERRORS } from '../src/base/errors.ts'
import { addAuditCommands } from '../src/cli/audit.ts'
import { addCheckCommand } from '../src/cli/check.ts'
import { addEvidenceCommands } from '../src/cli/evidence.ts'
import { addHealthCommand } from '../src/cli/health.ts'
import { addKeyCommands } from '../src/cli/keys.ts'
import { addKillSwitchCommands } from '../src/cli/killswitch.ts'
import { addServeCommand } from '../src/cli/serve.ts'
import { addTenantCommands } from '../src/cli/tenants.ts'
import { addValidateCommand } from '../src/cli/validate.ts'
import { SETTINGS } from '../src/config.ts'
import { ROUTES, type RouteRule } from '../src/keys/roles.ts'

const ROOT = new URL('../', import.meta.url)
const README = readFileSync(new URL('README.md', ROOT), 'utf8')

/** The cells of the first table under a heading, without backticks; header and rule left out. */
function tableUnder(heading: string): string[][] {
  const section = README.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0]
  assert.ok(section, `README has no part ${heading}`)
  const lines = section.split('\n')
  const first = lines.findIndex((line) => line.startsWith('|'))
  const length = lines.slice(first).findIndex((line) => !line.startsWith('|'))
  const cells = (line: string) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', ''))
  return lines.slice(first + 2, first + length).map(cells)
}

const columns = (rows: readonly string[][], ...wanted: number[]) => rows.map((row) => wanted.map((i) => row[i] ?? ''))

test('README: every setting with flag, variable, default and meaning', () => {
  const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const shown = (value: unknown) => (value === null ? '' : Array.isArray(value) ? value.join(',') : String(value))
  const rows = Object.entries(SETTINGS).map(([name, setting]) => [
    name,
    `--${kebab(name)}`,
    setting.env,
    shown(setting.default),
    setting.help,
  ])
  assert.deepEqual(tableUnder('Settings'), rows)
})

test('README: every endpoint with its roles and limit', () => {
  const roles = ({ roles: allowed }: RouteRule): string => {
    if (allowed === 'any') return 'every key'
    return allowed === 'public' ? 'no key needed' : [...allowed, 'owner', 'admin'].join(', ')
  }
  const rows = Object.values(ROUTES).map((rule: RouteRule) => [`${rule.method} ${rule.path}`, roles(rule), rule.limit])
  assert.deepEqual(columns(tableUnder('Endpoints'), 0, 1, 2), rows)
  assert.ok(tableUnder('Endpoints').every((row) => row[3] !== ''))
})

test('README: every error code with its status', () => {
  const rows = Object.entries(ERRORS).map(([code, status]) => [code, String(status)])
  assert.deepEqual(columns(tableUnder('Error codes'), 0, 1), rows)
  assert.ok(tableUnder('Error codes').every((row) => row[2] !== ''))
})

test('README: every command with its description', () => {
  const program = new Command()
  const adders = [
    addServeCommand,
    addKeyCommands,
    addTenantCommands,
    addValidateCommand,
    addCheckCommand,
    addAuditCommands,
    addEvidenceCommands,
    addKillSwitchCommands,
    addHealthCommand,
  ]
  for (const add of adders) add(program)
  const leaves = (command: Command, path: string[]): string[][] =>
    command.commands.length === 0
      ? [[path.join(' '), command.description()]]
      : command.commands.flatMap((child) => leaves(child, [...path, child.name()]))
  assert.deepEqual(tableUnder('Commands'), leaves(program, []))
})

test('README: each file that it points to is there', () => {
  const targets = [...README.matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => String(match[1]))
  assert.ok(targets.length > 3)
  assert.deepEqual(
    targets.filter((path) => !existsSync(new URL(path, ROOT))),
    [],
  )
})

test('README: exactly the two commands that set everything up', () => {
  const blocks = [...README.matchAll(/```\w*\n([\s\S]*?)```/g)].map((match) => String(match[1]))
  const lines = blocks.join('').split('\n')
  const wanted = ['npm ci && npm start', 'npm ci && npm test']
  const found = lines.map((line) => line.replace(/\s*#.*$/, '').trim()).filter((line) => line.startsWith('npm ci'))
  assert.deepEqual(found, wanted)
})

test('decisions: each at most a page, numbered without gaps', () => {
  const folder = new URL('docs/decisions/', ROOT)
  const names = readdirSync(folder).sort()
  assert.ok(names.length >= 7)
  for (const [i, name] of names.entries()) {
    assert.match(name, new RegExp(`^${String(i + 1).padStart(4, '0')}-[a-z0-9-]+\\.md$`))
    const text = readFileSync(new URL(name, folder), 'utf8')
    assert.match(text, /^# \d{4} .+\n/)
    assert.ok(text.split('\n').length <= 60, `${name} is longer than a page`)
  }
})
