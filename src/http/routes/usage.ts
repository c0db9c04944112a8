import { usage } from '../../actions/usage.ts'
import { route } from '../route.ts'
import { Usage, usageExample } from '../shapes/usage.ts'

export const usageRoutes = {
  usage: route({
    data: Usage,
    example: usageExample,
    handle: (services, { caller, planLeft }) => ({ data: usage(services, caller, planLeft()) }),
  }),
}
