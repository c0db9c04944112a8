#!/usr/bin/env node
// A package among the dependencies prints what it compares, facts of requests, when DEBUG names it.
delete process.env.DEBUG

const [, , first, ...rest] = process.argv
// SIGHUP would end a process that loads. The service reads its policies after this, so nothing is missed.
if (first === 'serve') process.on('SIGHUP', () => undefined)
// The hook without what only its installation needs.
if (first === 'hook' && !rest.includes('--install')) await answerHook()
else if (rest.length === 0 && (first === '--version' || first === '-V')) await printVersion()
else await runCommand()

/** Any code but 2 lets the tool call run, also that of a program of which files are missing, as while it is built. */
async function answerHook() {
  process.on('exit', (code) => {
    if (code !== 0) process.exitCode = 2
  })
  await import('../dist/hook.js')
}

/** Before anything of the program is loaded. */
async function printVersion() {
  const { readFileSync } = await import('node:fs')
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  process.stdout.write(`${version}\n`)
}

async function runCommand() {
  // Code is optimized when it has run more often: most commands end before that pays, and it took a third of `validate`. What
  // runs on is optimized as usual, `serve` when it listens. Later versions of V8, which have a compiler between, do not know it.
  if (first !== 'mcp' && process.versions.v8.startsWith('11.')) {
    const { setFlagsFromString } = await import('node:v8')
    setFlagsFromString('--interrupt-budget=2000000')
  }
  await import('../dist/main.js')
}
