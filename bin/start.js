'use strict'

/** Loads the answer of a hook. Any code but 2 lets the tool call run, also that of a program without its files, as in a build. */
function answerHook(load) {
  process.on('exit', (code) => {
    if (code !== 0) process.exitCode = 2
  })
  load()
}

/** Loads a command. One that waits for what never comes did not succeed: Node.js ends such a module with this code. */
async function untilFinished(load) {
  const isUnfinished = () => {
    process.exitCode = 13
  }
  process.on('beforeExit', isUnfinished)
  const { finished } = await load()
  await finished
  process.off('beforeExit', isUnfinished)
}

module.exports = { answerHook, untilFinished }
