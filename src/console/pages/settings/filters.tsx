import type { ListedKey } from '../../../client/api.ts'
import { addressOf, go } from '../../data/place.ts'
import { Choice, TextField } from '../../ui/field.tsx'
import { hasEnded } from './key-table.tsx'
import { ROLES } from './roles.tsx'

const STATES = ['active', 'ended', 'all'] as const
const ANY = ''

/** Filters of keys, as the address holds them. */
interface Wanted {
  state: (typeof STATES)[number]
  role: (typeof ROLES)[number] | typeof ANY
  text: string
}

export function wantedIn(query: URLSearchParams): Wanted {
  return {
    state: STATES.find((state) => state === query.get('state')) ?? 'active',
    role: ROLES.find((role) => role === query.get('role')) ?? ANY,
    text: query.get('q') ?? '',
  }
}

export function isWanted(key: ListedKey, { state, role, text }: Wanted, nowMs: number): boolean {
  if (state !== 'all' && hasEnded(key, nowMs) !== (state === 'ended')) return false
  if (role !== ANY && !key.roles.includes(role)) return false
  const searchable = [key.id, key.name ?? '', key.identity ?? '', ...key.groups].join('\n').toLowerCase()
  return searchable.includes(text.trim().toLowerCase())
}

export function Filters({ wanted, all, nowMs }: { wanted: Wanted; all: readonly ListedKey[]; nowMs: number }) {
  const change = (changed: Partial<Wanted>): void => {
    const { state, role, text } = { ...wanted, ...changed }
    go(addressOf(['settings', 'api-keys'], { state: state === 'active' ? '' : state, role, q: text }), 'replace')
  }
  const ended = all.filter((key) => hasEnded(key, nowMs)).length
  const states = [
    ['active', `Active (${all.length - ended})`],
    ['ended', `Ended (${ended})`],
    ['all', `All (${all.length})`],
  ] as const
  const roles = [[ANY, 'Any role'], ...ROLES.map((role) => [role, role] as const)] as const
  return (
    <search class="toolbar flush">
      <TextField
        label="Search"
        type="search"
        value={wanted.text}
        onValue={(text) => change({ text })}
        placeholder="Name, id, identity or group"
        maxLength={128}
      />
      <Choice label="State" value={wanted.state} options={states} onValue={(state) => change({ state })} />
      <Choice label="Role" value={wanted.role} options={roles} onValue={(role) => change({ role })} />
    </search>
  )
}
