import { spawnSync } from 'node:child_process'
import { PYTHON_FOLDER, pythonVersion } from './python.ts'

/** Runs the tests of python/: `npm run test:python`. Exit 1 when one fails, or there is no Python that will do. */
const version = await pythonVersion().catch(({ message }: Error) => {
  process.stderr.write(`${message}\n`)
  process.exit(1)
})
process.stdout.write(`+ Python ${version}: cd python && python3 -m unittest\n`)
const { status } = spawnSync('python3', ['-m', 'unittest'], { cwd: PYTHON_FOLDER, stdio: 'inherit' })
process.exitCode = status === 0 ? 0 : 1
