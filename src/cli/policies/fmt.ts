import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Diagnostic } from '../../authoring/diagnostics/diagnostics.ts'
import { shown } from '../../authoring/diagnostics/formats.ts'
import { formatDiagnostic } from '../../authoring/diagnostics/text.ts'
import { formatDocument } from '../../authoring/format/format.ts'
import { isPolicyFile, isTestFile } from '../../authoring/load/files.ts'
import { LIMITS } from '../../authoring/load/limits.ts'
import { counted } from '../../base/counted.ts'
import { pathInside, readAtMost } from '../../files/inside.ts'
import { policyPaths } from '../../files/policy-paths.ts'
import { rewriteFile } from '../../files/rewrite.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { CannotRun, type CommonOptions, EXIT, UsageError } from '../context.ts'
import { readInput } from '../input.ts'
import { type Line, paint, print, rendered } from '../output.ts'
import { policiesRoot, requireFolder } from '../tenant-folders.ts'
import { diffLines } from './line-diff.ts'

interface FormatOptions extends CommonOptions {
  check?: boolean
  diff?: boolean
}

/** A file to format, and the folder that no link may lead out of. */
interface Target {
  /** The path shown to the user. */
  file: string
  path: string
  folder: string
  /** True when the user named the file itself, and not only its folder. */
  isNamed: boolean
}

interface FormatResult {
  file: string
  status: 'unchanged' | 'formatted' | 'to be formatted' | 'refused' | 'skipped'
  /** Faults of a refused file. */
  diagnostics?: readonly Diagnostic[]
  fault?: string
  /** Additional lines of the report. */
  lines: readonly Line[]
}

export function addFormatCommand(program: GateCommand): void {
  addCommonOptions(program.command('fmt'), 'policies')
    .description('format policy and test files; comments and the digest stay the same')
    .argument('[paths...]', 'files and folders to format (default: the policies folder); - formats stdin to stdout')
    .option('--check', 'change nothing; exit 1 if a file is not formatted')
    .option('--diff', 'change nothing; show the changes')
    .notes(`
A folder stands for its *.yaml, *.yml and *.json files, including those of its subfolders. A file that is not a valid
document is refused: the command prints its faults, leaves it unchanged and exits with 1.`)
    .example('fmt', 'fmt --check --diff policies/acme')
    .action(format)
}

async function format(paths: readonly string[], options: FormatOptions): Promise<void> {
  if (paths.includes('-')) return formatInput(paths, options)
  const targets = paths.length === 0 ? configuredTargets(options) : paths.flatMap(targetsOf)
  const results = targets.map((target) => formatFile(target, options))
  const files = results.map(({ lines, ...result }) => ({ ...result, diagnostics: result.diagnostics?.map(shown) }))
  print(options, { files }, () => [...results.flatMap(({ lines }) => lines), summary(results)])
  if (results.some((result) => isNegative(result, options))) options.io.exitCode = EXIT.negative
}

function isNegative({ status }: FormatResult, { check }: FormatOptions): boolean {
  return status === 'refused' || (check === true && status === 'to be formatted')
}

function configuredTargets(options: FormatOptions): Target[] {
  const root = policiesRoot(options)
  requireFolder(root)
  return folderTargets(root, '')
}

function targetsOf(path: string): Target[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw new CannotRun(`${path} does not exist.`)
  if (stats.isDirectory()) return folderTargets(path, path)
  const name = basename(path)
  if (stats.isFile() && (isPolicyFile(name) || isTestFile(name)))
    return [{ file: path, path, folder: dirname(path), isNamed: true }]
  throw new UsageError(`${path} is not a policy or test file: *.yaml, *.yml or *.json, not hidden.`)
}

function folderTargets(folder: string, shown: string): Target[] {
  const targets = policyPaths(folder).map((name) => {
    return { file: join(shown, name), path: join(folder, name), folder, isNamed: false }
  })
  if (targets.length > 0) return targets
  throw new CannotRun(`${folder} has no policy or test files (*.yaml, *.yml or *.json).`)
}

function formatFile({ file, path, folder, isNamed }: Target, options: FormatOptions): FormatResult {
  const real = pathInside(folder, path)
  if (real === undefined) return refused(file, `is a link out of ${folder}; format its target instead`)
  const bytes = readAtMost(real, LIMITS.fileBytes)
  const { text, apiVersion = '', ...result } = formatted(file, bytes, options)
  if (text !== undefined && !isNamed && !apiVersion.startsWith('gate-sidecar/')) return skipped(file)
  if (text === undefined || result.status === 'unchanged' || options.check || options.diff) return result
  if (!rewriteFile(real, bytes, text)) throw new CannotRun(`${path} was changed while it was read; run fmt again.`)
  return { ...result, status: 'formatted', lines: [[paint('green', 'formatted '), file]] }
}

/** Folders may hold files of other programs. */
function skipped(file: string): FormatResult {
  const lines: Line[] = [[paint('yellow', 'skipped '), `${file}: it has no apiVersion of gate-sidecar.`]]
  return { file, status: 'skipped', lines }
}

type Attempt = FormatResult & { text?: string; apiVersion?: string | undefined }

/** The formatted text; nothing is written. */
function formatted(file: string, bytes: Uint8Array, { diff }: FormatOptions): Attempt {
  const result = formatDocument(file, bytes)
  const source = Buffer.from(bytes).toString('utf8')
  if ('diagnostics' in result) {
    const sourceLines = source.replace(/^\uFEFF/, '').split(/\r?\n/)
    const lines = result.diagnostics.flatMap((one) => formatDiagnostic(one, sourceLines[one.line - 1]).split('\n'))
    return { file, status: 'refused', diagnostics: result.diagnostics, lines }
  }
  if ('fault' in result) return refused(file, result.fault)
  const { text } = result
  if (text === source) return { file, status: 'unchanged', lines: [], ...result }
  const lines = diff ? diffLines(file, source, text) : [[paint('yellow', 'to be formatted '), file]]
  return { file, status: 'to be formatted', lines, ...result }
}

function refused(file: string, fault: string): FormatResult {
  return { file, status: 'refused', fault, lines: [[paint('red', 'refused '), `${file} ${fault}.`]] }
}

function summary(results: readonly FormatResult[]): string {
  const statuses = ['formatted', 'to be formatted', 'unchanged', 'skipped', 'refused'] as const
  const counts = statuses.flatMap((status) => {
    const count = results.filter((result) => result.status === status).length
    return count === 0 ? [] : [`${count} ${status}`]
  })
  return `${counted(results.length, 'file')}: ${counts.join(', ')}.`
}

/** Prints the formatted text to stdout, and everything else to stderr. */
async function formatInput(paths: readonly string[], options: FormatOptions): Promise<void> {
  if (paths.length > 1) throw new UsageError('- stands for stdin; give it alone.')
  const { stdout, stderr } = options.io
  const result = formatted('-', await readInput(options.io, LIMITS.fileBytes), options)
  if (isNegative(result, options)) options.io.exitCode = EXIT.negative
  const isText = result.text !== undefined && !options.check && !options.diff
  if (isText) stdout.write(result.text ?? '')
  else stderr.write(result.lines.map((line) => `${rendered(line, stdout)}\n`).join(''))
}
