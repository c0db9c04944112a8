import { usage } from '../../actions/keys/usage.ts'
import { route } from '../route.ts'
import { Usage, usageExample } from './shapes.ts'

export const usageRoutes = {
  usage: route({
    data: Usage,
    example: usageExample,
    handle: (services, { caller, planLeft }) => ({ data: usage(services, caller, planLeft()) }),
  }),
}
