import { usage } from '../../actions/keys/usage.ts'
import { route } from '../route.ts'
import * as shapes from './shapes.ts'

export const usageRoutes = {
  usage: route({
    data: shapes.Usage,
    example: shapes.usageExample,
    answer: (services, { caller, planLeft }) => usage(services, caller, planLeft()),
  }),
}
