import * as Type from '#typebox'
import type { PolicySource } from '../../authoring/load/files.ts'
import { GateError } from '../../base/errors.ts'
import { GLOB_PATTERN, parseGlob } from '../../base/glob.ts'
import { DAY_MS, LAST_TIME_MS, parseRfc3339 } from '../../base/time.ts'
import { requestBody } from '../../gate/request.ts'
import { HISTORIES } from '../../replay/decide.ts'
import type { Caller } from '../deps.ts'
import { DraftFields, draftSource } from '../policies/drafts.ts'
import type { DryRunDeps } from '../policies/dry-run.ts'
import type { Replays } from './jobs.ts'

const Time = (description: string) => Type.Optional(Type.String({ format: 'date-time', maxLength: 64, description }))

export const ReplayPoliciesRequest = requestBody('ReplayPoliciesRequest', {
  ...DraftFields,
  from: Time('Requests from this time on; without it, those of the last 24 hours.'),
  to: Time('Requests before this time.'),
  action: Type.Optional(
    Type.String({ pattern: GLOB_PATTERN, description: 'Only this action, or those of a glob: `payment.*`.' }),
  ),
  sample: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'About this number of requests, evenly spread.' }),
  ),
  history: Type.Optional(
    Type.Unsafe<(typeof HISTORIES)[number]>({
      type: 'string',
      enum: [...HISTORIES],
      description:
        'Earlier actions that facts over time count: those that were allowed, or those that the draft would have allowed. `recorded` without it.',
    }),
  ),
})
export type ReplayPoliciesRequest = Type.Static<typeof ReplayPoliciesRequest>

interface RequestDeps {
  clock: DryRunDeps['clock']
  policies: Pick<DryRunDeps['policies'], 'lists'>
  replays: Replays
}

/** Begins to replay a draft. @throws GateError `invalid_request`; `overloaded` while others of the tenant are under way */
export function replayPolicies(deps: RequestDeps, caller: Caller, request: ReplayPoliciesRequest) {
  const { files, lists, action, sample, history = 'recorded' } = request
  if (sample !== undefined && history === 'draft')
    throw refused('/sample', 'A sample leaves out what the history of the draft counts; send one of them.')
  const nowMs = deps.clock()
  // A trail may be ahead of a clock that was set back.
  const toMs = timeOf('/to', request.to) ?? LAST_TIME_MS
  const fromMs = timeOf('/from', request.from) ?? Math.min(nowMs, toMs) - DAY_MS
  if (fromMs >= toMs) throw refused('/to', 'The range ends before it begins.')
  const glob = action === undefined ? undefined : parseGlob(action)
  if (action !== undefined && glob === undefined) throw refused('/action', '** stands alone between dots.')
  const source = draftSource(caller.tenantId, { files, ...(lists && { lists }) })
  const all: PolicySource = { ...source, lists: new Map([...deps.policies.lists(caller.tenantId), ...source.lists]) }
  return deps.replays.begin(caller, all, { fromMs, toMs, history, action: glob, sample })
}

function timeOf(path: string, text: string | undefined): number | undefined {
  const ms = text === undefined ? undefined : parseRfc3339(text)
  if (text !== undefined && ms === undefined) throw refused(path, 'A time has a zone, such as 2026-01-31T12:00:00Z.')
  return ms === undefined ? undefined : Math.min(ms, LAST_TIME_MS)
}

function refused(path: string, message: string): GateError {
  return new GateError('invalid_request', message, { details: [{ path, message }] })
}
