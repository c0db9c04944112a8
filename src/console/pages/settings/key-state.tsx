import type { ListedKey } from '../../../client/api.ts'
import { Countdown, Time } from '../../ui/time.tsx'

/** A key should be replaced when less time is left. */
const SOON_MS = 7 * 86_400_000

type KeyState = 'active' | 'expires soon' | 'replaced' | 'expired' | 'revoked'

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

const COLOURS = {
  active: 'allow',
  'expires soon': 'warning',
  replaced: 'plain',
  expired: 'plain',
  revoked: 'deny',
} as const satisfies Record<KeyState, string>

/** The state of a key, and the time of its end. */
export function State({ of: key, nowMs }: { of: ListedKey; nowMs: number }) {
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
  if (hasEnded(key, nowMs))
    return (
      <>
        ended <Time at={expiresAt} />
      </>
    )
  if (state === 'active')
    return (
      <>
        until <Time at={expiresAt} />
      </>
    )
  return (
    <>
      works: <Countdown until={expiresAt} />
    </>
  )
}
