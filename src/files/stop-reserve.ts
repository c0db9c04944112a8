import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { StopReserve, UnwrittenStop } from '../actions/killswitch/unwritten.ts'
import { equalBytes, hmacSha256, utf8 } from '../base/bytes.ts'
import { storedJson } from '../base/json.ts'
import { syncFolder } from './rewrite.ts'

const LABEL = 'gate-sidecar/stop-reserve/v1\n'
const MAC_BYTES = 32
const HEAD_BYTES = MAC_BYTES + 4
const SLOT_BYTES = 16 * 1024
const SLOTS = 32

/** The file of the reserve cannot be made; a stop on a full disk would be kept in memory alone. */
export class NoReserve extends Error {
  override readonly name = 'NoReserve'
}

/**
 * Stops that a full disk keeps out of the data file, in a file whose space was taken while there was some. A slot is
 * overwritten in place, which needs no space where the file system does not copy on write; each is authenticated with the
 * secret, since a stop ends by nobody's edit. The head of a free slot is zeros.
 *
 * @throws NoReserve when the file can be neither made nor opened
 */
export function stopReserve(path: string, secret: () => Uint8Array): StopReserve {
  const file = openFile(path)
  const read = (slot: Buffer): UnwrittenStop | 'free' | 'unreadable' => {
    if (slot.subarray(0, HEAD_BYTES).every((byte) => byte === 0)) return 'free'
    const length = slot.readUInt32BE(MAC_BYTES)
    if (length > SLOT_BYTES - HEAD_BYTES) return 'unreadable'
    const text = slot.subarray(HEAD_BYTES, HEAD_BYTES + length)
    if (!equalBytes(macOf(secret(), text), slot.subarray(0, MAC_BYTES))) return 'unreadable'
    // The mac shows that it was written here.
    return storedJson(text.toString('utf8')) as unknown as UnwrittenStop
  }
  const slots = () => {
    const all = Buffer.alloc(SLOTS * SLOT_BYTES)
    readSync(file, all, 0, all.byteLength, 0)
    return Array.from({ length: SLOTS }, (_, i) => read(all.subarray(i * SLOT_BYTES, (i + 1) * SLOT_BYTES)))
  }
  const slotOf = (id: string): number => slots().findIndex((slot) => typeof slot === 'object' && slot.stop.id === id)
  const write = (slot: number, bytes: Uint8Array): void => {
    writeSync(file, bytes, 0, bytes.byteLength, slot * SLOT_BYTES)
    fsyncSync(file)
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
      const found = slots()
      // A stop in force is worth more than one that nobody can read.
      const slot = [slotOf(id), found.indexOf('free'), found.indexOf('unreadable')].find((at) => at >= 0)
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
    changedAt: () => fstatSync(file).mtimeMs,
    close: () => closeSync(file),
  }
}

function macOf(secret: Uint8Array, text: Uint8Array): Uint8Array {
  return hmacSha256(secret, Buffer.concat([utf8(LABEL), text]))
}

/** Slots without content. Random bytes behind the heads cannot be compressed, so their space is really taken. */
function freeSlots(): Buffer {
  const bytes = randomBytes(SLOTS * SLOT_BYTES)
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
    if (!stats.isFile()) throw new Error('It is no regular file.')
    const { size } = stats
    if (size < SLOTS * SLOT_BYTES) writeSync(file, freeSlots(), size, SLOTS * SLOT_BYTES - size, size)
    fsyncSync(file)
    if (size === 0) syncFolder(dirname(path))
    return file
  } catch (cause) {
    if (file !== undefined) closeSync(file)
    throw new NoReserve(
      `The space for stops in ${path} cannot be taken: it must be a regular file of this user, with room for 512 KiB.`,
      {
        cause,
      },
    )
  }
}
