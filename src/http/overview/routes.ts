import * as Type from '#typebox'
import { overview } from '../../actions/overview/overview.ts'
import { VERSION } from '../../version.ts'
import { queryShape } from '../query.ts'
import { route } from '../route.ts'
import * as shapes from './shapes.ts'

const OverviewQuery = queryShape({
  hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 168, description: 'Hours to look back; 24 if not given.' })),
})

export const overviewRoutes = {
  overview: route({
    query: OverviewQuery,
    data: shapes.Overview,
    example: shapes.overviewExample,
    answer: (services, { caller, query }) => overview(services, caller, { hours: query.hours ?? 24, version: VERSION }),
  }),
}
