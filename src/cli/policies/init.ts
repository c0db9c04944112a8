import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { editorSchema, testFileSchema } from '../../authoring/editor/editor-schema.ts'
import { SCHEMA_FOLDER } from '../../authoring/editor/modeline.ts'
import { readToolLines, readTools, shownName, type ToolList } from '../../authoring/starter/list.ts'
import { type Starter, starterFor } from '../../authoring/starter/starter.ts'
import { counted } from '../../base/counted.ts'
import { GateError } from '../../base/errors.ts'
import { decodeUtf8, parseJson } from '../../base/json.ts'
import { readAtMost } from '../../files/inside.ts'
import { isTenantId } from '../../keys/tenant.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { CannotRun, type CommonOptions, collect, UsageError } from '../context.ts'
import { readInput } from '../input.ts'
import type { Io } from '../io.ts'
import { type Line, paint, print } from '../output.ts'
import { shellWord } from '../shell.ts'
import { policiesRoot } from '../tenant-folders.ts'

interface InitOptions extends CommonOptions {
  tenant: string
  tools?: string
  tool?: string[]
}

/** Limits for a tool list; the depth allows a policy inside the response of a server. */
const LIST_BYTES = 4 * 1024 * 1024
const LIST_LIMITS = { maxDepth: 40, maxValues: 200_000 }

export function addInitCommand(program: GateCommand): void {
  addCommonOptions(program.command('init'), 'policies')
    .description('create a policy folder for the tools of an agent, with comments and tests')
    .requiredOption('--tenant <id>', 'tenant of the policies')
    .option('--tools <file>', 'tool list: JSON, or one name per line; - reads stdin')
    .option('--tool <name>', 'name of a tool; may be given several times', collect)
    .notes(`
The tool list has one name per line, or it is a JSON array of names or of tool definitions (OpenAI, Anthropic, MCP), or
the answer of an MCP server to tools/list. The policies allow tools that only read, require approval for the others, and
deny unlisted tools. Without tools, the folder gets three examples. A folder that is not empty is left unchanged. Missing
JSON Schemas for editors are written next to the policies folder.`)
    .example('init --tenant acme --tool get_balance --tool send_money', 'init --tenant acme --tools tools.json')
    .action(init)
}

async function init(options: InitOptions): Promise<void> {
  const { tenant, tool: names = [] } = options
  if (!isTenantId(tenant))
    throw new UsageError(`--tenant: ${tenant} is not a tenant id; use letters, digits, _ and -, at most 63.`)
  const root = policiesRoot(options)
  const folder = join(root, tenant)
  assertFree(folder)
  const listed = options.tools === undefined ? { tools: [], notes: [] } : await readToolFile(options.io, options.tools)
  const given = readTools(names)
  if ('fault' in listed) throw new CannotRun(`${options.tools}: ${listed.fault}`)
  if ('fault' in given) throw new UsageError(`--tool: ${given.fault}`)
  const starter = starterFor(tenant, [...listed.tools, ...given.tools])
  if ('fault' in starter) throw new CannotRun(starter.fault)
  writeFolder(folder, starter.files)
  const schemas = writeSchemas(join(dirname(root), SCHEMA_FOLDER))
  const notes = [...listed.notes, ...schemas.notes]
  const next = nextCommands(options, starter)
  const { rules } = starter
  const renamed = starter.renamed.map(({ name, action }) => ({ tool: name, action }))
  const files = [...starter.files.map(({ name }) => join(folder, name)), ...schemas.files]
  print(options, { files, rules, renamed, notes, next }, () => [
    ...files.map((file) => `wrote ${file}`),
    '',
    ...rules.map(({ id, effect, actions }) => `${effect}: ${counted(actions.length, 'tool')} by rule ${id}`),
    ...renamed.map(
      ({ tool, action }): Line => [paint('yellow', 'renamed '), `${shownName(tool)} is checked as ${action}`],
    ),
    ...notes.map((note): Line => [paint('yellow', 'note '), note]),
    '',
    'Next:',
    ...next.map((command) => `  ${command}`),
  ])
}

/** Checked before anything is read; the rename checks it again. */
function assertFree(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0) throw notFree(folder)
}

function notFree(folder: string): CannotRun {
  return new CannotRun(`${folder} is not empty, and init overwrites nothing; choose another --tenant or --policies.`)
}

async function readToolFile(io: Io, path: string): Promise<ToolList> {
  const bytes = path === '-' ? await readInput(io, LIST_BYTES) : readAtMost(path, LIST_BYTES)
  if (bytes.byteLength > LIST_BYTES) return { fault: `it has more than ${LIST_BYTES} bytes.` }
  try {
    const text = decodeUtf8(bytes).replace(/^\ufeff/, '')
    return /^\s*[[{"]/.test(text) ? readTools(parseJson(bytes, LIST_LIMITS)) : readToolLines(text)
  } catch (error) {
    if (error instanceof GateError) return { fault: error.message }
    throw error
  }
}

/** Writes to a temporary folder beside it and renames: a loader sees all files or none. */
function writeFolder(folder: string, files: Starter['files']): void {
  const staging = join(dirname(folder), `.init-${process.pid}-${Date.now()}`)
  mkdirSync(staging, { recursive: true })
  try {
    for (const { name, text } of files) writeFileSync(join(staging, name), text, { flag: 'wx', flush: true })
    // Replaces an empty folder, and fails on any other.
    renameSync(staging, folder)
  } catch (error) {
    rmSync(staging, { recursive: true, force: true })
    if (error instanceof Error && 'code' in error && ['ENOTEMPTY', 'EEXIST'].includes(String(error.code)))
      throw notFree(folder)
    throw error
  }
}

/** Creates missing schemas that the files name for editors. Policies work without them. */
function writeSchemas(folder: string): { files: string[]; notes: string[] } {
  const schemas = { policy: editorSchema(), test: testFileSchema() }
  const texts = Object.entries(schemas).map(([name, schema]): [string, string] => [
    join(folder, `${name}.json`),
    `${JSON.stringify(schema, undefined, 2)}\n`,
  ])
  try {
    mkdirSync(folder, { recursive: true })
    return { files: texts.flatMap(([path, text]) => (writeNew(path, text) ? [path] : [])), notes: [] }
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    const note = `${folder} cannot be written (${error.code}); write the schemas for editors with gate-sidecar schema.`
    return { files: [], notes: [note] }
  }
}

/** False when the file exists already, perhaps from another init that runs now. */
function writeNew(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx', flush: true })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

function nextCommands({ tenant, policies, config }: InitOptions, { example }: Starter): string[] {
  const options = Object.entries({ policies, config }).filter(([, value]) => value !== undefined)
  const where = options.map(([name, value = '']) => ` --${name} ${shellWord(value)}`).join('')
  const context =
    example === undefined || example.takesNone ? '' : ` --context ${shellWord(JSON.stringify(example.context))}`
  return [
    `gate-sidecar validate${where}`,
    `gate-sidecar test --tenant ${tenant}${where}`,
    `gate-sidecar check --tenant ${tenant} --action ${example?.action ?? 'unknown.tool'}${context}${where}`,
    `gate-sidecar keys create --tenant ${tenant} --role agent`,
  ]
}
