import { accessSync, constants, lstatSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseDuration } from '../../base/time.ts'
import { KEY_VARIABLE } from '../../base/variables.ts'
import { pathInside, readAtMost } from '../../files/inside.ts'
import { rewriteFile } from '../../files/rewrite.ts'
import { isTenantId } from '../../keys/tenant.ts'
import { CannotRun, type CommonOptions, EXIT, UsageError } from '../context.ts'
import { addressOf } from '../gate-client.ts'
import type { Scope } from '../hook-scopes.ts'
import { homeOf, type Io } from '../io.ts'
import { type Line, print } from '../output.ts'
import { diffLines } from '../policies/line-diff.ts'
import { shellWord } from '../shell.ts'
import { type HookOptions, MORE_MS } from './answer.ts'
import { type HookGroup, UnusableSettings, withHooks } from './settings.ts'

export interface InstallOptions extends HookOptions, CommonOptions {
  scope: Scope
  yes?: boolean
}

const PROGRAM = 'gate-sidecar'
const MAX_BYTES = 1024 * 1024
/** Seconds for the start of a process, on a busy machine too. */
const START_S = 15
const OUTCOME_S = 30

/** Shows the changes to the settings of Claude Code, and makes them on confirmation. */
export async function installHook(options: InstallOptions): Promise<void> {
  const { io } = options
  const { file, folder } = placeOf(options)
  const found = readSettings(file, folder)
  const before = found === undefined ? '' : Buffer.from(found.bytes).toString('utf8')
  const after = settingsWith(file, found === undefined ? '{}\n' : before, groupsOf(options))
  const onPath = isOnPath(io)
  const report = (status: string, lines: readonly Line[]): void =>
    print(options, { file, status, onPath }, () => [...lines, ...(onPath ? [] : [NOT_ON_PATH])])
  if (after === before) return report('unchanged', [`${file} already has this hook.`])
  const diff = diffLines(file, before, after)
  if (!options.yes) {
    const canAsk = io.stdin.isTTY && io.stdout.isTTY && !options.json
    if (canAsk) print(options, {}, () => diff)
    if (!canAsk || !(await isConfirmed(io))) {
      report('to be changed', [...(canAsk ? [] : diff), 'Nothing was changed. To make the change, pass --yes.'])
      io.exitCode = EXIT.negative
      return
    }
  }
  write(file, found, after)
  report('changed', [
    ...(options.yes ? diff : []),
    `Wrote ${file}. Set ${KEY_VARIABLE} in the environment of Claude Code.`,
  ])
}

const NOT_ON_PATH = `Warning: ${PROGRAM} is not on the PATH, so the hook blocks every call. Install it, or write its full path into the command.`

/** True when a shell finds the program that the hook starts. */
function isOnPath({ env: { PATH = '' } }: Io): boolean {
  return PATH.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, PROGRAM), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

function placeOf({ io, scope }: InstallOptions): { file: string; folder: string } {
  const { CLAUDE_CONFIG_DIR: own } = io.env
  if (scope !== 'user') {
    const folder = process.cwd()
    return { folder, file: join(folder, '.claude', scope === 'local' ? 'settings.local.json' : 'settings.json') }
  }
  const folder = own === undefined || own === '' ? homeOf(io) : own
  return { folder, file: join(folder, ...(folder === own ? [] : ['.claude']), 'settings.json') }
}

interface Found {
  /** The real path. */
  path: string
  bytes: Uint8Array
}

/** Undefined when there is no file. @throws CannotRun for an unwritable one, such as a link out of the folder */
function readSettings(file: string, folder: string): Found | undefined {
  const parent = dirname(file)
  const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined
  if (parent !== folder && isThere(parent) && pathInside(folder, parent) === undefined) throw leadsOut(parent, folder)
  if (!isThere(file)) return undefined
  const path = pathInside(folder, file)
  if (path === undefined) throw leadsOut(file, folder)
  if (!statSync(path).isFile()) throw new CannotRun(`${file} is not a regular file.`)
  const bytes = readAtMost(path, MAX_BYTES)
  if (bytes.byteLength > MAX_BYTES) throw new CannotRun(`${file} has more than ${MAX_BYTES} bytes.`)
  return { path, bytes }
}

function leadsOut(path: string, folder: string): CannotRun {
  return new CannotRun(`${path} is a link out of ${folder}; change its target instead.`)
}

function settingsWith(file: string, text: string, groups: readonly HookGroup[]): string {
  try {
    return withHooks(text, groups)
  } catch (error) {
    if (error instanceof UnusableSettings) throw new CannotRun(`${file} ${error.message}.`)
    throw error
  }
}

/** @throws UsageError without a tenant */
function groupsOf({ approvalTimeout, onAllow, outcomes, ...given }: InstallOptions): HookGroup[] {
  const { tenant, url } = addressOf(given)
  if (!isTenantId(tenant))
    throw new UsageError(`${tenant} is not a tenant id; use letters, digits, _ and -, at most 63.`)
  // Defaults are named too: a project's environment must not redirect the hook.
  const where = ['--tenant', tenant, '--url', url]
  const how = ['--approval-timeout', approvalTimeout, '--on-allow', onAllow, ...(outcomes ? ['--outcomes'] : [])]
  const commandOf = (words: readonly string[]): string =>
    [PROGRAM, 'hook', 'claude-code', ...words].map(shellWord).join(' ')
  // The hook must end before Claude Code's timeout, which would let the call run.
  const timeout = ((parseDuration(approvalTimeout) ?? 0) + MORE_MS) / 1000 + START_S
  const before = { type: 'command', command: `${commandOf([...where, ...how])} || exit 2`, timeout, onFailure: 'block' }
  const later = { type: 'command', command: `${commandOf(where)} || true`, timeout: OUTCOME_S, async: true }
  return [
    { event: 'PreToolUse', group: { matcher: '*', hooks: [before] } },
    ...(outcomes ? (['PostToolUse', 'PostToolUseFailure'] as const) : []).map((event) => ({
      event,
      group: { matcher: '*', hooks: [later] },
    })),
  ]
}

/** Only y or yes confirms; no input declines. */
function isConfirmed({ stdin, stdout }: Io): Promise<boolean> {
  const reader = createInterface({ input: stdin, output: stdout })
  return new Promise((resolve) => {
    reader.once('close', () => resolve(false))
    reader.question('Make these changes? [y/N] ', (answer) => {
      resolve(/^y(es)?$/i.test(answer.trim()))
      reader.close()
    })
  })
}

function write(file: string, found: Found | undefined, text: string): void {
  if (found === undefined) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { flag: 'wx', flush: true })
  } else if (!rewriteFile(found.path, found.bytes, text))
    throw new CannotRun(`${basename(file)} was changed while it was read; run this again.`)
}
