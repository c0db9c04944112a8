import type { ListedKey } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { Button } from '../../ui/button.tsx'
import { Id } from '../../ui/copy.tsx'
import { KeyHolder, Maker } from '../../ui/principal.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Text } from '../../ui/text.tsx'
import { Ago, Countdown, Time } from '../../ui/time.tsx'

export type ActOn = (what: 'rotate' | 'revoke', key: ListedKey) => void

interface KeyTableProps {
  keys: readonly ListedKey[]
  /** All keys, for the names of creators. */
  all: readonly ListedKey[]
  nowMs: number
  onAct: ActOn
}

export function KeyTable({ keys, all, nowMs, onAct }: KeyTableProps) {
  const { who, may } = useConsole()
  const makers = new Map(all.map((key) => [key.id, key]))
  const columns: Column<ListedKey>[] = [
    { head: 'Key', cell: (key) => <Named of={key} isOwn={key.id === who.keyId} /> },
    { head: 'Roles', cell: ({ roles }) => <div class="row tight">{roles.map(roleBadge)}</div> },
    { head: 'Held by', cell: (key) => <Holder of={key} /> },
    { head: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <When at={lastUsedAt} />) },
    { head: 'State', cell: (key) => <State of={key} nowMs={nowMs} /> },
    { head: 'Created', cell: (key) => <Created of={key} makers={makers} /> },
  ]
  if (may('rotateKey') || may('revokeKey'))
    columns.push({ head: 'Actions', cell: (key) => <Actions of={key} nowMs={nowMs} onAct={onAct} /> })
  return <Table caption="API keys" columns={columns} rows={keys} keyOf={({ id }) => id} />
}

function Named({ of: { id, name, environment }, isOwn }: { of: ListedKey; isOwn: boolean }) {
  return (
    <div class="key-name">
      <div class="row tight">
        <strong>{name === null ? <span class="muted">no name</span> : <Text of={name} />}</strong>
        <span class={`badge ${environment}`}>{environment}</span>
        {isOwn && <span class="badge warning">this session</span>}
      </div>
      <span class="small">
        <Id of={id} what={`the id ${id}`} />
      </span>
    </div>
  )
}

function roleBadge(role: ListedKey['roles'][number]) {
  return (
    <span key={role} class="badge">
      {role}
    </span>
  )
}

function Holder({ of: { identity, groups } }: { of: ListedKey }) {
  if (identity === null && groups.length === 0) return <span class="muted">–</span>
  return (
    <div>
      {identity !== null && <Text of={identity} />}
      {groups.length > 0 && (
        <div class="muted small">
          <Text of={groups.join(', ')} />
        </div>
      )}
    </div>
  )
}

function When({ at }: { at: string }) {
  return (
    <span class="nowrap">
      <Ago at={at} />
    </span>
  )
}

function Created({ of, makers }: { of: ListedKey; makers: ReadonlyMap<string, ListedKey> }) {
  return (
    <div class="created">
      <When at={of.createdAt} />
      <div class="muted small" title={of.createdBy}>
        by <Creator id={of.createdBy} of={makers.get(of.createdBy)} />
      </div>
    </div>
  )
}

function Creator({ id, of }: { id: string; of: ListedKey | undefined }) {
  return of === undefined ? <Maker id={id} /> : <KeyHolder {...of} />
}

function Actions({ of: key, nowMs, onAct }: { of: ListedKey; nowMs: number; onAct: ActOn }) {
  const { may } = useConsole()
  if (hasEnded(key, nowMs)) return <span class="muted">–</span>
  const which = <span class="visually-hidden"> {key.id}</span>
  return (
    <div class="row tight one-line">
      {may('rotateKey') && key.replacedBy === null && (
        <Button look="small" onClick={() => onAct('rotate', key)}>
          Rotate…{which}
        </Button>
      )}
      {may('revokeKey') && (
        <Button look="small" onClick={() => onAct('revoke', key)}>
          Revoke…{which}
        </Button>
      )}
    </div>
  )
}

/** A key should be replaced when less time is left. */
const SOON_MS = 7 * 86_400_000

const COLOURS = {
  active: 'allow',
  'expires soon': 'warning',
  replaced: 'plain',
  expired: 'plain',
  revoked: 'deny',
} as const

type KeyState = keyof typeof COLOURS

export function hasEnded({ revokedAt, expiresAt }: ListedKey, nowMs: number): boolean {
  return revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= nowMs)
}

function stateOf(key: ListedKey, nowMs: number): KeyState {
  if (key.revokedAt !== null) return 'revoked'
  if (key.replacedBy !== null) return 'replaced'
  if (key.expiresAt === null) return 'active'
  const leftMs = Date.parse(key.expiresAt) - nowMs
  if (leftMs <= 0) return 'expired'
  return leftMs < SOON_MS ? 'expires soon' : 'active'
}

function State({ of: key, nowMs }: { of: ListedKey; nowMs: number }) {
  const state = stateOf(key, nowMs)
  return (
    <div>
      <span class={`badge ${COLOURS[state]}`}>{state}</span>
      <div class="muted small">
        <Until of={key} nowMs={nowMs} state={state} />
      </div>
    </div>
  )
}

function Until({ of: key, nowMs, state }: { of: ListedKey; nowMs: number; state: KeyState }) {
  const { revokedAt, expiresAt } = key
  if (revokedAt !== null) return <Time at={revokedAt} />
  if (expiresAt === null) return <>no end</>
  const isOver = hasEnded(key, nowMs)
  if (isOver || state === 'active')
    return (
      <>
        {isOver ? 'ended' : 'until'} <Time at={expiresAt} />
      </>
    )
  return (
    <>
      works: <Countdown until={expiresAt} />
    </>
  )
}
