import type { QuotedDiagnostic } from '../diagnostics/quote.ts'
import { type PolicySource, policyFilesOf } from './files.ts'

/** Summary of a policy set that is not put in force. */
export interface PolicyValidation {
  readonly valid: boolean
  /** Null unless valid. */
  readonly digest: string | null
  /** Names of the policy files, in the order in which they are read. */
  readonly files: readonly string[]
  /** 0 unless valid. */
  readonly rules: number
  readonly factors: number
  readonly diagnostics: readonly QuotedDiagnostic[]
}

/** Validation of a set that could not be compiled within its limits. @param fault a predicate, as of Bounded */
export function notValidated(source: PolicySource, fault: string): PolicyValidation {
  const { tenant: file } = source
  const message = `The policy set ${fault}.`
  const tooMuch: QuotedDiagnostic = {
    file,
    line: 1,
    column: 1,
    severity: 'error',
    code: 'GATE1020',
    message,
    path: '',
    suggestion: null,
    excerpt: null,
    excerptColumn: null,
  }
  return { valid: false, digest: null, files: policyFilesOf(source), rules: 0, factors: 0, diagnostics: [tooMuch] }
}
