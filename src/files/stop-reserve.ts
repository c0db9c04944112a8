import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
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
 * secret, since a stop ends by nobody's edit.
 *
 * @throws NoReserve when the file can be neither made nor opened
 */
export function stopReserve(path: string, secret: () => Uint8Array): StopReserve {
  const file = openFile(path)
  const slots = (): Buffer[] => {
    const all = Buffer.alloc(SLOTS * SLOT_BYTES)
    readSync(file, all, 0, all.byteLength, 0)
    return Array.from({ length: SLOTS }, (_, i) => all.subarray(i * SLOT_BYTES, (i + 1) * SLOT_BYTES))
  }
  const read = (slot: Buffer): UnwrittenStop | undefined => {
    const length = slot.readUInt32BE(MAC_BYTES)
    if (length > SLOT_BYTES - HEAD_BYTES) return undefined
    const text = slot.subarray(HEAD_BYTES, HEAD_BYTES + length)
    if (!equalBytes(macOf(secret(), text), slot.subarray(0, MAC_BYTES))) return undefined
    // The mac shows that it was written here.
    return storedJson(text.toString('utf8')) as unknown as UnwrittenStop
  }
  const write = (slot: number, bytes: Uint8Array): void => {
    writeSync(file, bytes, 0, bytes.byteLength, slot * SLOT_BYTES)
    fsyncSync(file)
  }
  return {
    all: () => slots().flatMap((slot) => read(slot) ?? []),
    keep(unwritten) {
      const text = utf8(JSON.stringify(unwritten))
      const found = slots().map(read)
      const free = found.findIndex((one) => one === undefined || one.stop.id === unwritten.stop.id)
      if (free < 0 || text.byteLength > SLOT_BYTES - HEAD_BYTES) return false
      const head = Buffer.alloc(HEAD_BYTES)
      head.set(macOf(secret(), text))
      head.writeUInt32BE(text.byteLength, MAC_BYTES)
      write(free, Buffer.concat([head, text]))
      return slots().some((slot) => read(slot)?.stop.id === unwritten.stop.id)
    },
    release(id) {
      const slot = slots().findIndex((one) => read(one)?.stop.id === id)
      if (slot >= 0) write(slot, Buffer.alloc(HEAD_BYTES))
    },
    changedAt: () => fstatSync(file).mtimeMs,
    close: () => closeSync(file),
  }
}

function macOf(secret: Uint8Array, text: Uint8Array): Uint8Array {
  return hmacSha256(secret, Buffer.concat([utf8(LABEL), text]))
}

/** Opens the file, whole from the first start on. Random bytes cannot be compressed, so their space is really taken. */
function openFile(path: string): number {
  try {
    const isNew = !existsSync(path)
    const file = openSync(path, isNew ? 'wx+' : 'r+', 0o600)
    const missing = SLOTS * SLOT_BYTES - fstatSync(file).size
    if (missing > 0) writeSync(file, randomBytes(missing), 0, missing, SLOTS * SLOT_BYTES - missing)
    fsyncSync(file)
    if (isNew) syncFolder(dirname(path))
    return file
  } catch (cause) {
    throw new NoReserve(`The space for stops in ${path} cannot be taken.`, { cause })
  }
}
