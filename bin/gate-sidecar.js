#!/usr/bin/env node
// A package among the dependencies prints what it compares, facts of requests, when DEBUG names it.
delete process.env.DEBUG
// SIGHUP would end a process that loads. The service reads its policies after this, so nothing is missed.
if (process.argv[2] === 'serve') process.on('SIGHUP', () => undefined)
await import('../dist/cli/main.js')
