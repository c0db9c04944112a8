import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 8192

/** Draws random bytes in bulk: one draw costs more than the bytes of a whole batch. None is given out twice. */
export function randomPool(): (bytes: number) => Uint8Array {
  let pool = Buffer.alloc(0)
  return (bytes) => {
    if (pool.byteLength < bytes) pool = randomFillSync(Buffer.alloc(Math.max(POOL_BYTES, bytes)))
    const drawn = pool.subarray(0, bytes)
    pool = pool.subarray(bytes)
    return drawn
  }
}
