import { ERRORS, type ErrorCode } from '../base/errors.ts'

/** Failures that callers were told since the start, by code. */
export function errorCounts() {
  const codes = Object.keys(ERRORS) as ErrorCode[]
  const counts = new Map<ErrorCode, number>(codes.map((code) => [code, 0]))
  return {
    count: (code: ErrorCode): void => void counts.set(code, (counts.get(code) ?? 0) + 1),
    /** With the codes that never occurred. */
    all: (): ReadonlyMap<ErrorCode, number> => counts,
  }
}

export type ErrorCounts = ReturnType<typeof errorCounts>
