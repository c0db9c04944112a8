import { GateError } from '../../base/errors.ts'
import { AlteredFile } from '../errors.ts'
import { isDatabaseError } from './database.ts'

/** Translates errors that show a damaged database, found at `where`; returns other errors unchanged. */
export function asUnusable(error: unknown, where: string): unknown {
  if (error instanceof GateError) return new AlteredFile(error.message, { cause: error })
  // Class XX: an internal error, such as a damaged page or index.
  const damaged = isDatabaseError(error) && error.code?.startsWith('XX') === true
  return damaged ? new AlteredFile(`${where} is damaged: ${error.message}.`, { cause: error }) : error
}

/** True for an error of the database or of the way to it, with which a whole group is lost. */
export function isFailure(error: unknown): boolean {
  if (error instanceof AlteredFile || error instanceof GateError || error instanceof TypeError) return false
  return true
}

/** Refusal of a second pending approval for an equal request, by the unique index. */
export function isPendingTwice(error: unknown): boolean {
  return isDatabaseError(error) && error.code === '23505' && error.constraint === 'approval_one_pending'
}

/** Another sidecar holds a lock, or waited for ours; the same transaction may succeed a moment later. */
export function isBusy(error: unknown): boolean {
  return isDatabaseError(error) && (error.code === '55P03' || error.code === '40P01')
}
