import type { Approval, ApprovalBackground } from '../../../client/api.ts'
import { LongText, Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'

interface VotesProps {
  approval: Approval
  approvers: ApprovalBackground['approvers'] | undefined
}

/** Who has voted, how many must, and who may. */
export function Votes({ approval: { votes, quorum, status }, approvers }: VotesProps) {
  return (
    <div class="stack">
      <p>
        {`${votes.length} of ${quorum} ${quorum === 1 ? 'vote' : 'votes, of different people'}`}
        {status === 'pending' && votes.length > 0 && `: ${quorum - votes.length} more needed`}
      </p>
      {votes.length > 0 && (
        <ol class="votes">
          {votes.map(({ principal, comment, votedAt }) => (
            <li key={`${principal} ${votedAt}`}>
              <Text of={principal} /> <span class="muted small">{<Ago at={votedAt} />}</span>
              {comment && (
                <p class="small">
                  <LongText of={comment} />
                </p>
              )}
            </li>
          ))}
        </ol>
      )}
      {approvers !== undefined && <Voters approvers={approvers} />}
    </div>
  )
}

function Voters({ approvers: { groups, selfApproval } }: { approvers: ApprovalBackground['approvers'] }) {
  return (
    <p class="muted small">
      {groups.length === 0 ? (
        'Every approver may vote'
      ) : (
        <>
          {'May vote: who is in '}
          {groups.map((group, i) => (
            <span key={i}>
              {i > 0 && ', and in '}
              <Text of={group.join(' or ')} />
            </span>
          ))}
        </>
      )}
      {selfApproval ? '; who asked, too.' : ', but not who asked.'}
    </p>
  )
}
