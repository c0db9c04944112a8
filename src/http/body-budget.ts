import { GateError } from '../base/errors.ts'

const MIB = 1024 * 1024
/** Limit of the body bytes of all requests being read or answered, each beyond its first part. */
const MAX_BYTES = 64 * MIB
/** Limit of the body bytes of one key's requests. */
const MAX_BYTES_OF_KEY = 16 * MIB
/** First part of a body, which always has room: large requests of others cannot keep out small ones. */
export const FIRST_PART_BYTES = 64 * 1024

/** Bytes of all requests, and of those of each key. */
interface Held {
  total: number
  byKey: Map<string, number>
}

/** Bounds the memory of waiting requests by bytes, not by number: one may be a thousand times as large as another. */
export function bodyBudget() {
  const held: Held = { total: 0, byKey: new Map() }
  return (keyId: string, urgent: boolean): BodyShare => new BodyShare(held, keyId, urgent)
}

/** The bytes of one request. The first part of an urgent one does not count for its key: a stop always has room. */
export class BodyShare {
  private taken = 0
  private readonly held: Held
  private readonly keyId: string
  private readonly urgent: boolean

  constructor(held: Held, keyId: string, urgent: boolean) {
    this.held = held
    this.keyId = keyId
    this.urgent = urgent
  }

  /** Counts bytes about to be allocated. @throws GateError `overloaded` when they do not fit */
  take(bytes: number): void {
    const before = this.taken
    this.hold(before + bytes)
    if (this.held.total <= MAX_BYTES && (this.held.byKey.get(this.keyId) ?? 0) <= MAX_BYTES_OF_KEY) return
    this.hold(before)
    throw new GateError('overloaded', 'Too many large requests at once; try again.', {
      headers: { Connection: 'close' },
    })
  }

  release(): void {
    this.hold(0)
  }

  private hold(bytes: number): void {
    const { total, byKey } = this.held
    this.held.total = total + beyondFirst(bytes) - beyondFirst(this.taken)
    const ofKey = (byKey.get(this.keyId) ?? 0) + this.ofKey(bytes) - this.ofKey(this.taken)
    if (ofKey === 0) byKey.delete(this.keyId)
    else byKey.set(this.keyId, ofKey)
    this.taken = bytes
  }

  private ofKey(bytes: number): number {
    return this.urgent ? beyondFirst(bytes) : bytes
  }
}

function beyondFirst(bytes: number): number {
  return Math.max(0, bytes - FIRST_PART_BYTES)
}
