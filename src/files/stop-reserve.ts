import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, fsyncSync, lstatSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { StopReserve, UnwrittenStop } from '../actions/killswitch/unwritten.ts'
import { equalBytes, hmacSha256, utf8 } from '../base/bytes.ts'
import { storedJson } from '../base/json.ts'
import type { KillSwitch } from '../killswitch/killswitch.ts'
import { syncFolder } from './rewrite.ts'

const LABEL = 'gate-sidecar/stop-reserve/v1\n'
const MAC_BYTES = 32
const HEAD_BYTES = MAC_BYTES + 4
const SLOT_BYTES = 16 * 1024
const SLOTS = 32
/** Limits of L1 and L2 stops, of one chain and of all: one operator must not use up what L3 and L4 need. */
const CHAIN_SLOTS = 8
const NARROW_SLOTS = 24
const FILE_BYTES = SLOTS * SLOT_BYTES

type Slot = UnwrittenStop | 'free' | 'unreadable'

/** The file of the reserve cannot be made; a stop on a full disk would be kept in memory alone. */
export class NoReserve extends Error {
  override readonly name = 'NoReserve'
}

/**
 * Stops that a full disk keeps out of the data file, in a file whose space was taken while there was some. A slot is
 * overwritten in place, which needs no space where the file system does not copy on write; each is authenticated with the
 * secret, since a stop ends by nobody's edit. The head of a free slot is zeros.
 *
 * Each use throws NoReserve when the file can be neither made nor opened.
 */
export function stopReserve(path: string, secret: () => Uint8Array): StopReserve {
  let file: number | undefined
  /** The open file; made anew where it was removed or replaced, since one without its name keeps nothing. */
  const current = (): number => {
    if (file !== undefined && isNamed(file, path)) return file
    const next = openFile(path)
    if (file !== undefined) closeSync(file)
    file = next
    return file
  }
  const slots = (): Slot[] => {
    const open = current()
    return Array.from({ length: SLOTS }, (_, at) => slotIn(open, at, secret))
  }
  const slotOf = (id: string): number => indexOf(slots(), id)
  const write = (slot: number, bytes: Uint8Array): void => {
    const open = current()
    writeSync(open, bytes, 0, bytes.byteLength, slot * SLOT_BYTES)
    fsyncSync(open)
  }
  return {
    read() {
      const found = slots()
      return {
        stops: found.filter((slot) => typeof slot === 'object'),
        unreadable: found.filter((slot) => slot === 'unreadable').length,
      }
    },
    keep(unwritten) {
      const { id } = unwritten.stop
      const text = utf8(JSON.stringify(unwritten))
      const slot = placeFor(unwritten.stop, slots())
      if (slot === undefined || text.byteLength > SLOT_BYTES - HEAD_BYTES) return false
      const head = Buffer.alloc(HEAD_BYTES)
      head.set(macOf(secret(), text))
      head.writeUInt32BE(text.byteLength, MAC_BYTES)
      write(slot, Buffer.concat([head, text]))
      return slotOf(id) >= 0
    },
    release(id) {
      const slot = slotOf(id)
      if (slot >= 0) write(slot, Buffer.alloc(HEAD_BYTES))
    },
    close() {
      if (file !== undefined) closeSync(file)
    },
  }
}

function indexOf(slots: readonly Slot[], id: string): number {
  return slots.findIndex((slot) => typeof slot === 'object' && slot.stop.id === id)
}

/** The slot for a stop; undefined when there is no room for it. */
function placeFor(stop: KillSwitch, slots: readonly Slot[]): number | undefined {
  const others = slots.filter((slot) => typeof slot === 'object').map((slot) => slot.stop)
  const narrow = others.filter((other) => other.id !== stop.id && isNarrow(other))
  const ofChain = narrow.filter(({ target }) => target === stop.target)
  if (isNarrow(stop) && (narrow.length >= NARROW_SLOTS || ofChain.length >= CHAIN_SLOTS)) return undefined
  // A stop in force is worth more than one that nobody can read.
  return [indexOf(slots, stop.id), slots.indexOf('free'), slots.indexOf('unreadable')].find((at) => at >= 0)
}

function isNarrow({ level }: KillSwitch): boolean {
  return level === 'L1' || level === 'L2'
}

function isNamed(file: number, path: string): boolean {
  const { ino, dev } = fstatSync(file)
  const named = lstatSync(path, { throwIfNoEntry: false })
  return named?.ino === ino && named.dev === dev
}

function slotIn(file: number, at: number, secret: () => Uint8Array): Slot {
  const head = Buffer.alloc(HEAD_BYTES)
  readSync(file, head, 0, HEAD_BYTES, at * SLOT_BYTES)
  if (head.every((byte) => byte === 0)) return 'free'
  const length = head.readUInt32BE(MAC_BYTES)
  if (length > SLOT_BYTES - HEAD_BYTES) return 'unreadable'
  const text = Buffer.alloc(length)
  readSync(file, text, 0, length, at * SLOT_BYTES + HEAD_BYTES)
  if (!equalBytes(macOf(secret(), text), head.subarray(0, MAC_BYTES))) return 'unreadable'
  // The mac shows that it was written here.
  return storedJson(text.toString('utf8')) as unknown as UnwrittenStop
}

function macOf(secret: Uint8Array, text: Uint8Array): Uint8Array {
  return hmacSha256(secret, Buffer.concat([utf8(LABEL), text]))
}

/** Adds what slots are missing. */
function fill(file: number, size: number): void {
  const missing = FILE_BYTES - size
  if (missing > 0 && writeSync(file, freeSlots(), size, missing, size) < missing) throw new Error('The disk is full.')
  fsyncSync(file)
}

/** Slots without content. Random bytes behind the heads cannot be compressed, so their space is really taken. */
function freeSlots(): Buffer {
  const bytes = randomBytes(FILE_BYTES)
  for (let at = 0; at < bytes.byteLength; at += SLOT_BYTES) bytes.fill(0, at, at + HEAD_BYTES)
  return bytes
}

const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants

/** Opens the file, whole from the first start on. */
function openFile(path: string): number {
  let file: number | undefined
  try {
    // A link could lead the writes into any other file of this user. Windows has no such flag.
    file = openSync(path, O_RDWR | O_CREAT | (O_NOFOLLOW ?? 0), 0o600)
    const stats = fstatSync(file)
    if (!stats.isFile()) throw new Error('It is not a regular file.')
    fill(file, stats.size)
    if (stats.size < FILE_BYTES) syncFolder(dirname(path))
    return file
  } catch (cause) {
    if (file !== undefined) closeSync(file)
    const needs = 'it must be a regular file of this user, with room for 512 KiB'
    throw new NoReserve(`The space for stops in ${path} cannot be reserved: ${needs}.`, { cause })
  }
}
