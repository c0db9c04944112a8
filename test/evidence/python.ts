import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { verdictOf } from '../../src/cli/gate/verdict-lines.ts'
import type { Verification } from '../../src/evidence/checks.ts'
import { PYTHON_FOLDER, pythonVersion } from '../python.ts'

const CASES = fileURLToPath(new URL('verify_cases.py', import.meta.url))

/** Input of a verifier. */
export interface Case {
  /** The text of a bundle or an envelope, or the folder of an export. */
  evidence: string
  /** The text of a trust file. */
  trust: string
  /** Lines of anchors. */
  anchors?: string
  now: string
}

interface Answer {
  verdict: string
  valid: boolean
  signatureValid: boolean
  chainValid: boolean
  timestampValid: boolean
  assurance: string
  observed?: string
  checks: readonly { check: string; result: string }[]
}

/** Returns the results on which verifiers must agree: everything but the wording. */
export function essence(answer: Answer & { exitCode: number; isUnattributed: boolean }) {
  const { verdict, valid, signatureValid, chainValid, timestampValid, assurance, exitCode, isUnattributed } = answer
  const { observed = null } = answer
  const checks = answer.checks.map(({ check, result }) => `${check}: ${result}`)
  return {
    verdict,
    valid,
    signatureValid,
    chainValid,
    timestampValid,
    assurance,
    observed,
    exitCode,
    isUnattributed,
    checks,
  }
}

/** Returns our verifier's results, with the exit code of its command. */
export function ours(verification: Verification) {
  const { name, exitCode } = verdictOf(verification)
  return essence({ ...verification, exitCode, isUnattributed: name.startsWith('UNATTRIBUTED') })
}

/** Returns the results of the verifier in Python for all cases, from one process. */
export async function byPython(cases: readonly Case[]): Promise<ReturnType<typeof essence>[]> {
  await pythonVersion()
  const child = spawn('python3', [CASES], {
    env: { ...process.env, PYTHONPATH: PYTHON_FOLDER },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = cases.map(({ evidence, trust, anchors = '', now }) => JSON.stringify([evidence, trust, anchors, now]))
  child.stdin.end(lines.map((line) => `${line}\n`).join(''))
  const out = await text(child.stdout)
  return out.split('\n').flatMap((line) => (line === '' ? [] : [essence(JSON.parse(line))]))
}
