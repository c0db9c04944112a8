'use strict'
const { setFlagsFromString } = require('node:v8')

/**
 * Code is optimized when it has run more often: most commands end before that pays, and it took a third of `validate`.
 * `serve` takes this back when it listens. Later versions of V8, which have a compiler between, do not know the flag.
 */
function optimizeLater() {
  if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=2000000')
}

module.exports = { optimizeLater }
