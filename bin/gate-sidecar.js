#!/usr/bin/env node
'use strict'
// A CommonJS file, by the package.json beside it: Node.js starts one sooner than a module.
const { answerHook, untilFinished } = require('./start.js')

// A package among the dependencies prints what it compares, facts of requests, when DEBUG names it.
delete process.env.DEBUG

const [, , first, ...rest] = process.argv
// SIGHUP would end a process that loads. The service reads its policies after this, so nothing is missed.
if (first === 'serve') process.on('SIGHUP', () => undefined)
// The hook without what only its installation needs.
if (first === 'hook' && !rest.includes('--install')) answerHook(() => require('../dist/hook.cjs'))
else if (rest.length === 0 && (first === '--version' || first === '-V')) printVersion()
else runCommand()

/** Before anything of the program is loaded. */
function printVersion() {
  process.stdout.write(`${require('../package.json').version}\n`)
}

function runCommand() {
  if (first !== 'mcp') require('./optimize-later.js').optimizeLater()
  // Commands about policies alone, which load and run the most code.
  const isOfPolicies = ['validate', 'lint', 'test', 'fmt', 'check', 'risk'].includes(first)
  void untilFinished(isOfPolicies ? loadPolicies : () => import('../dist/main.js'))
}

async function loadPolicies() {
  const { run, scriptOf } = require('./compiled.js')
  const path = require.resolve('../dist/policies.cjs')
  return run(scriptOf(path), path)
}
