import * as Type from '#typebox'
import { ReplayPoliciesRequest, replayPolicies } from '../../actions/replay/request.ts'
import { EFFECTS } from '../../policies/set.ts'
import { POLICY_LIMITS } from '../body.ts'
import { oneOf } from '../common-shapes.ts'
import { Paging, pageOf, queryShape } from '../query.ts'
import { route } from '../route.ts'
import * as shapes from './shapes.ts'

const ChangesQuery = queryShape({
  ...Paging,
  from: Type.Optional(oneOf(EFFECTS, 'The recorded decision.')),
  to: Type.Optional(oneOf(EFFECTS, 'The decision of the draft.')),
  rule: Type.Optional(Type.String({ maxLength: 256, description: 'The rule that decided then, or by the draft.' })),
})
const id = { description: 'Id of the replay.', example: shapes.getReplayExample.data.id }

export const replayRoutes = {
  replayPolicies: route({
    body: ReplayPoliciesRequest,
    limits: POLICY_LIMITS,
    data: shapes.Replay,
    example: shapes.replayPoliciesExample,
    answer: (services, { caller, body }) => replayPolicies(services, caller, body),
  }),
  getReplay: route({
    id,
    data: shapes.Replay,
    errors: ['not_found'],
    example: shapes.getReplayExample,
    answer: ({ replays }, { caller, id }) => replays.find(caller, id),
  }),
  replayChanges: route({
    id,
    query: ChangesQuery,
    data: Type.Array(shapes.Change),
    paged: true,
    errors: ['not_found'],
    example: shapes.replayChangesExample,
    reply: async ({ replays }, { caller, id, query }) => {
      const { from, to, rule } = query
      const { limit, offset } = pageOf(query, { limit: 50, max: 200 })
      const { items, total } = replays.changes(caller, id, { from, to, rule, limit, offset })
      return { data: items, page: { limit, offset, total } }
    },
  }),
  sealReplay: route({
    id,
    data: shapes.Replay,
    errors: ['not_found'],
    example: shapes.sealReplayExample,
    answer: ({ replays }, { caller, id }) => replays.seal(caller, id),
  }),
  cancelReplay: route({
    id,
    data: shapes.Replay,
    errors: ['not_found'],
    example: shapes.cancelReplayExample,
    answer: ({ replays }, { caller, id }) => replays.cancel(caller, id),
  }),
}
