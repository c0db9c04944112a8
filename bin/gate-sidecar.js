#!/usr/bin/env node
// A package among the dependencies prints what it compares, facts of requests, when DEBUG names it.
delete process.env.DEBUG
await import('../dist/cli/main.js')
