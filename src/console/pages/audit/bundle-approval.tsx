import type { Approval } from '../../../client/api.ts'
import { Id } from '../../ui/copy.tsx'
import { Facts } from '../../ui/facts.tsx'
import { JsonTree } from '../../ui/json-tree.tsx'
import { Principal } from '../../ui/principal.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'

/** A vote as its entry records it: the keys decide whether it counts. */
type Vote = Omit<Approval['votes'][number], 'counts'>

/** The approvers and the approved action, in words, and all entries. @param of data of the entries of the approval, in order */
export function BundleApproval({ of }: { of: readonly object[] }) {
  const { action, requestedBy, quorum, digest, unbound, votes } = fieldsIn(of)
  const last = votes.at(-1)
  return (
    <>
      <p>
        Votes for it: <Voters of={votes} />
        {last && (
          <>
            {', last at '}
            <When at={last.votedAt} />
          </>
        )}
        {', for the action '}
        <strong>
          <Text of={action} />
        </strong>
        {requestedBy !== '' && (
          <>
            , which <Principal of={requestedBy} /> asked for
          </>
        )}
        {'. '}
        {quorum !== undefined && `It needed ${quorum} ${quorum === 1 ? 'vote' : 'votes'}.`}
      </p>
      <Facts
        of={{
          'Arguments bound': <Id of={digest} what="the digest of what was approved" />,
          'Not bound': <Unbound of={unbound} />,
        }}
      />
      <Table
        caption="Votes"
        columns={COLUMNS}
        rows={votes}
        keyOf={({ principal, votedAt }) => `${votedAt} ${principal}`}
      />
      {last && <p class="muted small">The keys decide which votes counted, and the bundle does not contain them.</p>}
      <details>
        <summary>Content of the entries</summary>
        <JsonTree value={of} path="approval" />
      </details>
    </>
  )
}

const COLUMNS: readonly Column<Vote>[] = [
  { head: 'Approver', cell: ({ principal, approverId }) => <Approver principal={principal} approverId={approverId} /> },
  { head: 'When', cell: ({ votedAt }) => <When at={votedAt} /> },
  {
    head: 'Comment',
    cell: ({ comment }) => (comment === null ? <span class="muted">none</span> : <LongText of={comment} />),
  },
]

function Unbound({ of }: { of: readonly string[] | undefined }) {
  if (of === undefined) return <>not recorded</>
  if (of.length === 0) return <>nothing: exactly this request was approved</>
  return (
    <>
      <Text of={of.join(', ')} />, may differ
    </>
  )
}

function Approver({ principal, approverId }: Pick<Vote, 'principal' | 'approverId'>) {
  return (
    <span>
      <Principal of={principal} />
      {approverId !== principal && (
        <span class="muted">
          , named as <Text of={approverId} />
        </span>
      )}
    </span>
  )
}

/** Invalid times are shown as text. */
function When({ at }: { at: string }) {
  return Number.isNaN(Date.parse(at)) ? <Text of={at} /> : <Time at={at} />
}

/** `ann, bo and cy`, each once: after a vote is withdrawn with its key, the principal may have voted again. */
function Voters({ of }: { of: readonly Vote[] }) {
  if (of.length === 0) return <>nobody</>
  const principals = [...new Set(of.map(({ principal }) => principal))]
  return (
    <>
      {principals.map((principal, i) => (
        <span key={principal}>
          {i > 0 && (i === principals.length - 1 ? ' and ' : ', ')}
          <strong>
            <Principal of={principal} />
          </strong>
        </span>
      ))}
    </>
  )
}

/** The approval after all entries: each one overrides those before it. Only the verifier has checked the types. */
function fieldsIn(entries: readonly object[]) {
  const fields: Record<string, unknown> = Object.assign({}, ...entries.map((entry) => Object(Object(entry).changes)))
  const { quorum, unbound, votes } = fields
  return {
    action: textOf(fields.action),
    requestedBy: textOf(fields.requestedBy),
    quorum: typeof quorum === 'number' ? quorum : undefined,
    digest: textOf(fields.digest),
    unbound: Array.isArray(unbound) ? unbound.map(textOf) : undefined,
    votes: Array.isArray(votes) ? votes.map(voteOf) : [],
  }
}

function voteOf(vote: unknown): Vote {
  const { principal, approverId, comment, votedAt } = Object(vote)
  return {
    principal: textOf(principal),
    approverId: textOf(approverId),
    comment: typeof comment === 'string' ? comment : null,
    votedAt: textOf(votedAt),
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
