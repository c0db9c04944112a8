import { eventStream } from '../../actions/events.ts'
import { route } from '../route.ts'

export const eventRoutes = {
  events: route({
    handle: (services, { caller, lastEventId, isGone }) => ({
      stream: eventStream(services, caller, lastEventId, isGone),
    }),
  }),
}
