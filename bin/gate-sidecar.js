#!/usr/bin/env node
'use strict'
// A CommonJS file, by the package.json beside it: Node.js starts one sooner than a module.

// A package among the dependencies prints what it compares, facts of requests, when DEBUG names it.
delete process.env.DEBUG

const [, , first, ...rest] = process.argv
// SIGHUP would end a process that loads. The service reads its policies after this, so nothing is missed.
if (first === 'serve') process.on('SIGHUP', () => undefined)
// The hook without what only its installation needs.
if (first === 'hook' && !rest.includes('--install')) answerHook()
else if (rest.length === 0 && (first === '--version' || first === '-V')) printVersion()
else runCommand()

/** Any code but 2 lets the tool call run, also that of a program of which files are missing, as while it is built. */
function answerHook() {
  process.on('exit', (code) => {
    if (code !== 0) process.exitCode = 2
  })
  require('../dist/hook.cjs')
}

/** Before anything of the program is loaded. */
function printVersion() {
  process.stdout.write(`${require('../package.json').version}\n`)
}

function runCommand() {
  // Code is optimized when it has run more often: most commands end before that pays, and it took a third of `validate`.
  // `serve` takes this back when it listens. Later versions of V8, which have a compiler between, do not know the flag.
  if (first !== 'mcp' && process.versions.v8.startsWith('11.'))
    require('node:v8').setFlagsFromString('--interrupt-budget=2000000')
  void untilFinished()
}

/** A command that waits for what never comes did not succeed: with this code Node.js ends a module that does so. */
async function untilFinished() {
  const isUnfinished = () => {
    process.exitCode = 13
  }
  process.on('beforeExit', isUnfinished)
  const { finished } = await import('../dist/main.js')
  await finished
  process.off('beforeExit', isUnfinished)
}
