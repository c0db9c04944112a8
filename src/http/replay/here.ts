import type { OpenDraft } from '../../actions/replay/jobs.ts'
import { compilePolicySet } from '../../authoring/load/load.ts'
import { linkPolicySet } from '../../policies/link.ts'
import { reachOf, replayHere, type StartReplay } from '../../replay/replay.ts'

/** Compiles, and replays, in the calling thread, which it blocks. */
export const openDraftHere: OpenDraft = async (source) => {
  const { data, diagnostics } = compilePolicySet(source)
  const set = data && linkPolicySet(data)
  if (set === undefined) return { ...NOTHING, diagnostics, start: notCompiled, close: () => undefined }
  return { digest: set.digest, diagnostics, reachMs: reachOf(set), start: replayHere(set), close: () => undefined }
}

const NOTHING = { digest: null, reachMs: 0 }

const notCompiled: StartReplay = async () => {
  throw new TypeError('a draft with faults cannot be replayed')
}
