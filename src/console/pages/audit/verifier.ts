import { useEffect, useState } from 'preact/hooks'
import type { Verification } from '../../../client/verify/verify.ts'
import { failure } from '../../data/load.ts'
import type { Document, Kind } from './documents.ts'

export type Given = { [kind in Kind]?: Document | undefined }

/** The result for the evidence; or the error, with the faulty document. */
export type Verified =
  | { state: 'none' | 'running' }
  | { state: 'done'; verification: Verification; tookMs: number }
  | { state: 'failed'; kind: Kind; message: string }

/** A separate script, since it holds the cryptography. Once loaded, it needs no further requests. */
const loadVerifier = () => import('../../../client/verify/verify.ts')

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

async function verify({ evidence, trust, anchors }: Given & { evidence: Document }): Promise<Verified> {
  try {
    const { verifyEvidence, UnusableTrust } = await loadVerifier()
    const startMs = performance.now()
    try {
      const verification = verifyEvidence(evidence.bytes, {
        trust: trust?.bytes,
        anchors: anchors && new TextDecoder().decode(anchors.bytes),
      })
      return { state: 'done', verification, tookMs: performance.now() - startMs }
    } catch (error) {
      if (!(error instanceof UnusableTrust)) throw error
      return { state: 'failed', kind: 'trust', message: error.message }
    }
  } catch (error) {
    return { state: 'failed', kind: 'evidence', message: failure(error).message }
  }
}
