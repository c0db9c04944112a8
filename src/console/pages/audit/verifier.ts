import { useEffect, useState } from 'preact/hooks'
import type { Verification } from '../../../client/verify/verify.ts'
import { failure } from '../../data/load.ts'
import type { Document, Kind } from './documents.ts'

export type Given = { [kind in Kind]?: Document | undefined }

/** What came of the evidence; or why it could not be verified, by the document whose fault that is. */
export type Verified =
  | { state: 'none' | 'running' }
  | { state: 'done'; verification: Verification; tookMs: number }
  | { state: 'failed'; kind: Kind; message: string }

/** A script of its own, since it has the cryptography. Once it is here, nothing more is asked of anybody. */
const loadVerifier = () => import('../../../client/verify/verify.ts')

/** Verifies in this browser, anew whenever something else is given. */
export function useVerified({ evidence, trust, anchors }: Given): Verified {
  const [verified, setVerified] = useState<Verified>({ state: 'none' })
  useEffect(() => {
    // Before it is wanted, so that it is here when the network is not.
    loadVerifier().catch(failure)
  }, [])
  useEffect(() => {
    if (evidence === undefined) return setVerified({ state: 'none' })
    let isWanted = true
    setVerified({ state: 'running' })
    // After what is shown is drawn: large evidence keeps the browser busy for a while.
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
