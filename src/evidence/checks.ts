/** Every check of evidence in the order of its report, with the part of the verdict that it belongs to. */
export const CHECKS = {
  form: 'all',
  files: 'chain',
  certificate: 'signature',
  revocation: 'signature',
  signature: 'signature',
  segment: 'chain',
  openings: 'chain',
  checkpoint: 'chain',
  inclusion: 'chain',
  lanes: 'chain',
  anchors: 'chain',
  approval: 'chain',
  times: 'time',
} as const satisfies Record<string, Part>

export type CheckName = keyof typeof CHECKS
export type Part = 'all' | 'signature' | 'chain' | 'time'

/** The reason, as a sentence, unless `ok`. `unknown` cannot be decided with the verifier's inputs. */
export type CheckResult = { result: 'ok'; why: null } | { result: 'failed' | 'unknown'; why: string }
export type Check = { check: CheckName; part: Part } & CheckResult

export const OK: CheckResult = { result: 'ok', why: null }

export function failed(why: string): CheckResult {
  return { result: 'failed', why }
}

export function unknown(why: string): CheckResult {
  return { result: 'unknown', why }
}

/** Failed with this reason; ok without one. */
export function checkResultOf(fault: string | undefined): CheckResult {
  return fault === undefined ? OK : failed(fault)
}

type Assurance = 'self-asserted' | 'bracketed'
type Verdict = 'valid' | 'invalid' | 'incomplete'

export interface Verification {
  valid: boolean
  signatureValid: boolean
  chainValid: boolean
  timestampValid: boolean
  verdict: Verdict
  /** The witness of the time: the service alone, or anchors that others hold too. */
  assurance: Assurance
  /** Erased parts, which are no longer proved. */
  redacted: readonly string[]
  /** Decision of the policies, where they were only observed: the action was allowed whatever they decided. */
  observed?: string
  /** One sentence for each check that is not ok. */
  reasons: readonly string[]
  checks: readonly Check[]
}

type Found = Pick<Verification, 'assurance' | 'redacted'> & { observed: string | undefined }

/** The verdict of all checks: only a check found ok counts as valid. */
export function verdictOf(
  results: Partial<Record<CheckName, CheckResult>>,
  { assurance = 'self-asserted', redacted = [], observed }: Partial<Found> = {},
): Verification {
  const names = Object.keys(CHECKS) as CheckName[]
  const checks = names.flatMap((check) => {
    const result = results[check]
    return result === undefined ? [] : [{ check, part: CHECKS[check], ...result }]
  })
  const holds = (part: Part): boolean =>
    checks.some((check) => check.part === part) &&
    checks.every((check) => check.result === 'ok' || (check.part !== part && check.part !== 'all'))
  const [signatureValid, chainValid, timestampValid] = [holds('signature'), holds('chain'), holds('time')]
  const valid = signatureValid && chainValid && timestampValid
  const isInvalid = checks.some(({ result }) => result === 'failed')
  return {
    valid,
    signatureValid,
    chainValid,
    timestampValid,
    verdict: valid ? 'valid' : isInvalid ? 'invalid' : 'incomplete',
    assurance,
    redacted,
    ...(observed !== undefined && { observed }),
    reasons: checks.flatMap(({ why }) => why ?? []),
    checks,
  }
}
