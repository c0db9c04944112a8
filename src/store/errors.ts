import { GateError } from '../base/errors.ts'
import { shortened } from '../base/shortened.ts'

/** Storage that is not ours, or that was altered. The service does not start on it. */
export class UnusableFile extends Error {
  override readonly name: string = 'UnusableFile'
}

/** Storage that is ours, but changed by something else: its records do not follow from its audit chains. */
export class AlteredFile extends UnusableFile {
  override readonly name = 'AlteredFile'

  /** The chain whose end is not what was written; undefined for other faults. */
  readonly chain: string | undefined

  /** @param message may hold text from the file, which has no limit */
  constructor(message: string, { chain, ...options }: ErrorOptions & { chain?: string } = {}) {
    super(shortened(message, 500), options)
    this.chain = chain
  }
}

/** Entry that the tree needs but the storage lacks. */
export class MissingEntry extends Error {
  override readonly name = 'MissingEntry'
  readonly seq: number

  constructor(chain: string, seq: number) {
    super(`Audit chain ${chain}, entry ${seq} is missing.`)
    this.seq = seq
  }
}

/** Failure of storage as callers see it. The words of the database go into the log through `cause`. */
export function unavailable(what: string, cause: unknown): GateError {
  return new GateError('audit_unavailable', `The audit store cannot ${what}; nothing was decided.`, { cause })
}
