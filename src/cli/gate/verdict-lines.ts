import type { Check, Verification } from '../../evidence/checks.ts'
import { columns, type Line, paint } from '../output.ts'

/** The name of a verdict and the exit code of a command that gives it (docs/evidence.md). */
export function verdictOf({ verdict, checks }: Verification): { name: string; exitCode: number } {
  if (verdict === 'valid') return { name: 'VALID', exitCode: 0 }
  if (verdict === 'invalid') return { name: 'INVALID', exitCode: 1 }
  const isUnpinned = checks.some(({ check, result }) => check === 'certificate' && result === 'unknown')
  return { name: isUnpinned ? 'UNATTRIBUTED (no pinned key)' : 'INCOMPLETE', exitCode: 2 }
}

/** One line for each check, then the verdict and its limits. */
export function verdictLines(result: Verification): Line[] {
  const { name, exitCode } = verdictOf(result)
  const gaps = [
    ...(result.valid && result.assurance === 'self-asserted' ? ['only the service vouches for the time'] : []),
    ...(result.observed === undefined ? [] : [`only observed: the policies decided ${result.observed}`]),
    ...(result.redacted.length > 0 ? [`erased: ${result.redacted.join(', ')}`] : []),
  ]
  const verdict = paint(exitCode === 0 ? 'green' : exitCode === 1 ? 'red' : 'yellow', name)
  return [...columns(result.checks.map(row)), [verdict, ...(gaps.length > 0 ? [` (${gaps.join('; ')})`] : [])]]
}

function row({ check, result, why }: Check) {
  const shown = { ok: paint('green', 'ok'), failed: paint('red', 'FAILED'), unknown: paint('yellow', 'unknown') }
  return [check, shown[result], why ?? '']
}
