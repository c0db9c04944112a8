import { isPolicyFile, type PolicySource } from './files.ts'
import { compilePolicySet } from './load.ts'
import { NOTHING, type QuotedDiagnostic } from './output/quote.ts'

/** What a policy set would be, without anything that it could be asked with. */
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

export function validatePolicySet(source: PolicySource): PolicyValidation {
  const { data, diagnostics } = compilePolicySet(source)
  return {
    valid: data !== undefined,
    digest: data?.digest ?? null,
    files: policyFilesOf(source),
    rules: data?.rules.length ?? 0,
    factors: data?.factors.length ?? 0,
    diagnostics,
  }
}

/** What is told of a set that could not be compiled within its limits. @param fault a predicate, as of Outcome */
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
    ...NOTHING,
  }
  return { valid: false, digest: null, files: policyFilesOf(source), rules: 0, factors: 0, diagnostics: [tooMuch] }
}

function policyFilesOf({ files }: PolicySource): string[] {
  return files
    .map(({ name }) => name)
    .filter(isPolicyFile)
    .sort()
}
