'use strict'
const { createHash } = require('node:crypto')
const { readFileSync, writeFileSync } = require('node:fs')
const { createRequire, wrap } = require('node:module')
const { dirname } = require('node:path')
const { constants, Script } = require('node:vm')

const DIGEST_BYTES = 32

/**
 * A CommonJS file of the build, with what V8 compiled of it then, in the `.cache` beside it: most code of a command that
 * soon ends runs once, and compiling it takes as long. V8 refuses what another version of it, or one with other flags, has
 * compiled; then it compiles anew.
 */
function scriptOf(path) {
  const source = readFileSync(path, 'utf8')
  return new Script(wrap(source), {
    filename: path,
    cachedData: cacheOf(path, source),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
}

/** Runs the file. @returns its exports */
function run(script, path) {
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(path), module, path, dirname(path))
  return module.exports
}

/** Keeps what V8 has compiled of the file by now. */
function writeCache(script, path) {
  const code = script.createCachedData()
  writeFileSync(cachePathOf(path), Buffer.concat([digestOf(readFileSync(path, 'utf8'), code), code]))
}

/** Undefined when the file has changed since, or the cache is not whole: V8 itself compares no more than lengths. */
function cacheOf(path, source) {
  try {
    const cache = readFileSync(cachePathOf(path))
    const code = cache.subarray(DIGEST_BYTES)
    return digestOf(source, code).equals(cache.subarray(0, DIGEST_BYTES)) ? code : undefined
  } catch {
    // Without it, all is compiled.
    return undefined
  }
}

function digestOf(source, code) {
  return createHash('sha256').update(source).update(code).digest()
}

function cachePathOf(path) {
  return path.replace(/\.cjs$/, '.cache')
}

module.exports = { run, scriptOf, writeCache }
