import type { Approval } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { Risk, StatusBadge } from '../../ui/badges.tsx'
import { CloseFooter } from '../../ui/button.tsx'
import { Principal } from '../../ui/principal.tsx'
import { Scroll } from '../../ui/scroll.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { Countdown } from '../../ui/time.tsx'
import { Arguments } from './arguments.tsx'
import { deciderOf } from './asked.ts'
import { isPaused } from './stopped.tsx'
import { countedOf, neededText, type VoteKind } from './vote.ts'

/** The subject of a vote, repeated in its dialog. */
export function Reviewed({ approval, kind }: { approval: Approval; kind: VoteKind }) {
  const { action, requestedBy, riskScore, quorum, unbound, expiresAt } = approval
  const given = countedOf(approval)
  return (
    <div class="stack tight">
      <p class="reviewed-action">
        <Text of={action} />
      </p>
      <p class="row small">
        <Risk score={riskScore} />
        <span>
          requested by <Text of={requestedBy} />
        </span>
        <Countdown until={expiresAt} isPaused={isPaused(approval)} />
      </p>
      <Scroll label="Arguments" class="box reviewed-arguments">
        <Arguments approval={approval} />
      </Scroll>
      {kind === 'approve' && (
        <p class="small">
          {unbound.length === 0 ? (
            'All of this is bound'
          ) : (
            <>
              All of this is bound except for <Text of={unbound.join(', ')} />, which may differ when the agent acts
            </>
          )}
          : the agent may do exactly this, once.{' '}
          {given + 1 < quorum
            ? `Your vote is ${given + 1} of ${quorum}. ${neededText(quorum - given - 1, true)}`
            : 'With your vote, the agent may act.'}
        </p>
      )}
    </div>
  )
}

const MEANWHILE = {
  pending: 'It is still pending',
  approved: 'Someone has approved it meanwhile',
  consumed: 'Someone has approved it meanwhile, and the agent has acted',
  rejected: 'Someone has rejected it meanwhile',
  expired: 'It has expired meanwhile. If it is still needed, the agent requests it again',
  cancelled: 'It was cancelled meanwhile',
} as const satisfies Record<Approval['status'], string>

/** Changes of an approval while the user looked at it. */
export function Meanwhile({ approval }: { approval: Approval }) {
  const { who } = useConsole()
  const decider = deciderOf(approval)
  if (decider?.principal === who.principal)
    return <p>{approval.status === 'rejected' ? 'You rejected it.' : 'With your vote, it was approved.'}</p>
  return (
    <>
      <p>
        {MEANWHILE[approval.status]}
        {decider !== undefined && (
          <>
            {': '}
            <Principal of={decider.principal} />
          </>
        )}
        .
      </p>
      {decider?.comment && (
        <p>
          <LongText of={decider.comment} />
        </p>
      )}
    </>
  )
}

/** Replaces the question when nothing is left to decide. */
export function Overtaken({ approval, onClose }: { approval: Approval; onClose: () => void }) {
  return (
    <>
      <div class="notice" role="alert">
        <Meanwhile approval={approval} />
        <p>Nothing more is sent.</p>
      </div>
      <p class="row">
        <Text of={approval.action} />
        <StatusBadge status={approval.status} />
      </p>
      <CloseFooter onClose={onClose} />
    </>
  )
}
