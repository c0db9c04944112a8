import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { once } from '../src/base/memo.ts'

/** The folder of the Python package and of its tests. */
export const PYTHON_FOLDER = fileURLToPath(new URL('../python', import.meta.url))
const OLDEST = '3.9'
const INSTALL = `Tests need Python ${OLDEST} or newer as \`python3\`, without any package: install it (Debian: apt-get install python3; macOS: brew install python).`

const run = promisify(execFile)

/** The version of `python3`. @throws Error with what to install, when there is none that will do */
export const pythonVersion: () => Promise<string> = once(async () => {
  const version = await run('python3', ['-c', 'import platform; print(platform.python_version())']).then(
    ({ stdout }) => stdout.trim(),
    (cause: unknown) => {
      throw new Error(`There is no python3 that runs. ${INSTALL}`, { cause })
    },
  )
  if (version.localeCompare(OLDEST, 'en', { numeric: true }) < 0)
    throw new Error(`python3 is Python ${version}. ${INSTALL}`)
  return version
})
