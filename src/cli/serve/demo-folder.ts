import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SCHEMA_FOLDER } from '../../authoring/editor/modeline.ts'
import { type Config, readConfig, readSettings } from '../../service/config.ts'
import { policiesFolder } from '../../service/paths.ts'
import { ROOT } from '../../version.ts'
import { CannotRun, type CommonOptions, sourcesOf, UsageError } from '../context.ts'

/** Folder of a demo. Commands that run in it find the data and the policies by their usual names. */
export const DEMO_FOLDER = 'gate-sidecar-demo'
const POLICIES = fileURLToPath(new URL('policies/demo', ROOT))
/** The policies name these, so that editors complete and check them. */
const SCHEMAS = fileURLToPath(new URL('schemas', ROOT))

/**
 * The settings of a demo. Data and policies for which no folder is set lie in one folder, which Git ignores.
 * It gets the demo's policies once, and keeps changes to them.
 *
 * @throws CannotRun if the folder cannot be written
 */
export function demoConfig(options: CommonOptions): Config {
  const sources = sourcesOf(options)
  const { data, policies } = readSettings(sources)
  if (policiesFolder({ policies: policies.value }) === undefined)
    throw new UsageError('The demo has policies of its own; leave out --demo, or --policies store:.')
  const flags = { ...sources.flags }
  if (data.origin.kind === 'default') flags.data = join(DEMO_FOLDER, 'data')
  if (policies.origin.kind === 'default') flags.policies = join(DEMO_FOLDER, 'policies')
  try {
    if (flags.data !== sources.flags.data || flags.policies !== sources.flags.policies) makeFolder()
    if (flags.policies !== sources.flags.policies) copyPolicies(join(DEMO_FOLDER, 'policies'))
  } catch (error) {
    throw new CannotRun(
      `The folder ${DEMO_FOLDER} cannot be written: ${(error as Error).message}. Run the demo in another folder.`,
    )
  }
  return readConfig({ ...sources, flags })
}

function makeFolder(): void {
  mkdirSync(DEMO_FOLDER, { recursive: true })
  const ignore = join(DEMO_FOLDER, '.gitignore')
  // A full disk leaves it empty.
  const { size } = lstatSync(ignore, { throwIfNoEntry: false }) ?? { size: 0 }
  if (size === 0) writeFileSync(ignore, '*\n')
}

/** The copy appears whole: half of the rules could allow more than all of them. */
function copyPolicies(folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) return
  const copy = mkdtempSync(`${folder}.`)
  try {
    copyFiles(SCHEMAS, join(DEMO_FOLDER, SCHEMA_FOLDER))
    copyFiles(POLICIES, join(copy, 'demo'))
    renameSync(copy, folder)
  } catch (error) {
    // Another start was sooner.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** Copies the contents alone: files of a package that nobody may write are still the user's to edit. */
function copyFiles(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) writeFileSync(join(to, name), readFileSync(join(from, name)))
}
