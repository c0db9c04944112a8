import { useEffect, useState } from 'preact/hooks'
import type { GateError } from '../../../client/errors.ts'
import type { Verification } from '../../../client/verify/verify.ts'
import { failure } from '../../data/load.ts'
import { loadScript } from '../../data/script.ts'
import type { Document, Kind } from './documents.ts'

export type Given = { [kind in Kind]?: Document | undefined }

/** The result for the evidence; or the error, with the faulty document, or of the script that verifies. */
export type Verified =
  | { state: 'none' | 'running' }
  | { state: 'done'; verification: Verification; tookMs: number }
  | { state: 'failed'; kind: Kind; message: string }
  | { state: 'unloaded'; error: GateError }

/** A separate script, since it holds the cryptography. Once loaded, it needs no further requests. */
const loadVerifier = () => loadScript(() => import('../../../client/verify/verify.ts'))

/** Verifies in this browser, again after each change of the documents. */
export function useVerified({ evidence, trust, anchors }: Given): Verified {
  const [verified, setVerified] = useState<Verified>({ state: 'none' })
  useEffect(() => {
    // Loads it early, so that it works without a network later.
    loadVerifier().catch(failure)
  }, [])
  useEffect(() => {
    if (evidence === undefined) return setVerified({ state: 'none' })
    let isWanted = true
    setVerified({ state: 'running' })
    // Runs after drawing: large evidence keeps the browser busy for a while.
    const timer = setTimeout(async () => {
      const result = await verify({ evidence, trust, anchors })
      if (isWanted) setVerified(result)
    })
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [evidence, trust, anchors])
  return verified
}

async function verify(given: Given & { evidence: Document }): Promise<Verified> {
  try {
    return verifyWith(await loadVerifier(), given)
  } catch (error) {
    return { state: 'unloaded', error: failure(error) }
  }
}

type Verifier = Awaited<ReturnType<typeof loadVerifier>>

function verifyWith({ verifyEvidence, UnusableTrust }: Verifier, given: Given & { evidence: Document }): Verified {
  const { evidence, trust, anchors } = given
  try {
    const startMs = performance.now()
    const verification = verifyEvidence(evidence.bytes, {
      trust: trust?.bytes,
      anchors: anchors && new TextDecoder().decode(anchors.bytes),
    })
    return { state: 'done', verification, tookMs: performance.now() - startMs }
  } catch (error) {
    if (error instanceof UnusableTrust) return { state: 'failed', kind: 'trust', message: error.message }
    return { state: 'failed', kind: 'evidence', message: failure(error).message }
  }
}
