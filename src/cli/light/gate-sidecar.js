#!/usr/bin/env node

const { answerHook, untilFinished } = require('./start.js')

const load = () => require('./main.cjs')
if (process.argv[2] === 'hook' && !process.argv.includes('--install')) answerHook(load)
else void untilFinished(load)
