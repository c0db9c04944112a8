import type { RecordedDecision } from '../../../client/api.ts'
import { Explanation } from '../../ui/explanation.tsx'
import { PolicyDigest } from '../../ui/policy-place.tsx'
import { Text } from '../../ui/text.tsx'

/** The explanation by the deciding policies; or the reason why there is none. */
export function ExplanationCard({
  of: { explanation, unexplained, reproduced, policyDigest },
}: {
  of: RecordedDecision
}) {
  return (
    <section class="card">
      <h2>Why</h2>
      {explanation === null ? (
        <p>
          It cannot be explained: <Text of={unexplained?.message ?? 'the policies give no reason.'} />
        </p>
      ) : (
        <>
          {reproduced === true && (
            <p class="small">
              <span class="badge allow">reproduced</span> The policies that decided give the same again.
            </p>
          )}
          <PolicyDigest.Provider value={policyDigest ?? ''}>
            <Explanation of={explanation} />
          </PolicyDigest.Provider>
        </>
      )}
    </section>
  )
}
