import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Runs commands of a file of the build, and keeps what V8 compiled for them beside it. */

const require = createRequire(import.meta.url)
const { run, scriptOf, writeCache } = require('../../bin/compiled.js')
const { optimizeLater } = require('../../bin/optimize-later.js')
const PATH = fileURLToPath(new URL('../../dist/policies.cjs', import.meta.url))
const POLICIES = ['--policies', fileURLToPath(new URL('../../policies', import.meta.url))]
const COMMANDS = [
  ['validate', ...POLICIES],
  ['check', ...POLICIES, '--tenant', 'acme', '--action', 'payment.transfer', '--context', '{"amount": 25}'],
]

optimizeLater()
const script = scriptOf(PATH)
for (const command of COMMANDS) {
  process.argv.splice(2, Infinity, ...command)
  await run(script, PATH).finished
  // 1 is a verdict.
  if (process.exitCode > 1) throw new Error(`${command[0]} ended with ${process.exitCode}`)
}
writeCache(script, PATH)
process.exitCode = 0
