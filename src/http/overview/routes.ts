import { Type } from '#typebox'
import { overview } from '../../actions/overview/overview.ts'
import { VERSION } from '../../version.ts'
import { Closed } from '../query.ts'
import { route } from '../route.ts'
import { Overview, overviewExample } from './shapes.ts'

const OverviewQuery = Type.Object(
  {
    hours: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 168, description: 'How far back it looks; 24 without it.' }),
    ),
  },
  Closed,
)

export const overviewRoutes = {
  overview: route({
    query: OverviewQuery,
    data: Overview,
    example: overviewExample,
    handle: async (services, { caller, query }) => ({
      data: await overview(services, caller, { hours: query.hours ?? 24, version: VERSION }),
    }),
  }),
}
