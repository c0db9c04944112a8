import type { RecordedDecision } from '../../../client/api.ts'
import { Explanation } from '../../ui/explanation.tsx'
import { Text } from '../../ui/text.tsx'

/** Why it came out so, by the policies that decided; or why that cannot be told. */
export function ExplanationCard({ of: { explanation, unexplained, reproduced } }: { of: RecordedDecision }) {
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
          <Explanation of={explanation} />
        </>
      )}
    </section>
  )
}
