import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { isDigest } from '../base/digest.ts'
import { isJsonObject, parseJson } from '../base/json.ts'
import { rewriteFile } from '../files/rewrite.ts'
import type { Pins } from './tool-book.ts'

/** The file of pins cannot be used. The message says what to do about it. */
class UnusablePins extends Error {
  override readonly name = 'UnusablePins'
}

const LIMITS = { maxDepth: 3, maxValues: 50_000 }
/** Attempts to write, each of which fails when another process writes at the same time. */
const MAX_ATTEMPTS = 5

/** Reads the pinned definitions; none when the file does not exist yet. @throws UnusablePins */
export function readPins(path: string): Pins {
  return existsSync(path) ? pinsIn(path, readFileSync(path)) : {}
}

/** Adds missing pins to the file and keeps existing ones. @returns all pins of the file @throws UnusablePins */
export function addPins(path: string, pins: Pins): Pins {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
    if (!existsSync(path)) writeFileSync(path, textOf({}), { mode: 0o600 })
    const before = readFileSync(path)
    const known = pinsIn(path, before)
    const all = { ...pins, ...known }
    if (rewriteFile(realpathSync(path), before, textOf(all))) return all
  }
  throw new UnusablePins(`${path} cannot be written: other processes keep writing it.`)
}

function textOf(pins: Pins): string {
  const sorted = Object.entries(pins).sort(([a], [b]) => (a < b ? -1 : 1))
  return `${JSON.stringify({ tools: Object.fromEntries(sorted) }, null, 2)}\n`
}

function pinsIn(path: string, bytes: Uint8Array): Pins {
  let file: unknown
  try {
    file = parseJson(bytes, LIMITS)
  } catch (cause) {
    throw new UnusablePins(`${path} cannot be read: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
  const tools = isJsonObject(file) ? file.tools : undefined
  if (!isPins(tools))
    throw new UnusablePins(`${path} holds no digests of tools; name another file, or delete it to start over.`)
  return tools
}

function isPins(tools: unknown): tools is Pins {
  return isJsonObject(tools) && Object.values(tools).every(isDigest)
}
