import type { Approval, ApprovalBackground } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { Principal } from '../../ui/principal.tsx'
import { LongText, Text, TextAfter } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import { countedOf, neededText } from './vote.ts'

type Vote = Approval['votes'][number]

interface VotesProps {
  approval: Approval
  approvers: ApprovalBackground['approvers'] | undefined
}

/** The votes so far, the quorum, and the permitted voters. */
export function Votes({ approval, approvers }: VotesProps) {
  const { votes, quorum, status } = approval
  const given = countedOf(approval)
  return (
    <div class="stack">
      <p>
        {`${given} of ${quorum} ${quorum === 1 ? 'vote' : 'votes'}.`}
        {status === 'pending' && given < quorum && ` ${neededText(quorum - given, given > 0)}`}
      </p>
      {votes.length > 0 && (
        <ol class="votes">
          {votes.map((vote) => (
            <Given key={`${vote.principal} ${vote.votedAt}`} vote={vote} approval={approval} />
          ))}
        </ol>
      )}
      {approvers !== undefined && <Voters approvers={approvers} />}
    </div>
  )
}

/** One vote. A claimed name is shown if it differs. */
function Given({ vote, approval }: { vote: Vote; approval: Approval }) {
  const { who } = useConsole()
  const { principal, approverId, comment, votedAt } = vote
  const isRejection = approval.status === 'rejected' && vote === approval.votes.at(-1)
  const doubt = isRejection ? undefined : doubtAbout(vote, approval.votes)
  const name = <Principal of={principal} />
  return (
    <li>
      {doubt === undefined ? name : <s>{name}</s>}
      {principal === who.principal && ' (you)'}
      <span class="muted small">
        <TextAfter words=" as " of={approverId === principal ? null : approverId} />
        {isRejection ? ' rejected it ' : ' '}
        <Ago at={votedAt} />
      </span>
      {doubt !== undefined && <p class="small">{doubt}</p>}
      {comment && (
        <p class="small">
          <LongText of={comment} />
        </p>
      )}
    </li>
  )
}

/** The reason why a vote does not count; undefined for one that does. */
function doubtAbout({ counts, principal }: Vote, votes: readonly Vote[]): string | undefined {
  if (counts) return undefined
  const hasAnother = votes.some((other) => other.counts && other.principal === principal)
  return hasAnother
    ? 'Does not count: another vote of the same person counts.'
    : "No longer counts: its key has ended, or another voter's key made it."
}

function Voters({ approvers: { groups, selfApproval } }: { approvers: ApprovalBackground['approvers'] }) {
  return (
    <p class="muted small">
      {groups.length === 0 ? (
        'Every approver may vote'
      ) : (
        <>
          {'Only the group '}
          {groups.map((group, i) => (
            <span key={i}>
              {i > 0 && ', and of these the group '}
              <Text of={group.join(' or ')} />
            </span>
          ))}
          {' may vote'}
        </>
      )}
      {selfApproval ? ', even on their own requests.' : ', but not on their own requests.'}
    </p>
  )
}
