import { eventStream } from '../../actions/events/events.ts'
import { route } from '../route.ts'
import * as shapes from './shapes.ts'

export const eventRoutes = {
  events: route({
    data: shapes.EventText,
    bare: 'text/event-stream',
    resumable: true,
    example: shapes.eventsExample,
    reply: async (services, { caller, lastEventId, isGone }) => ({
      stream: eventStream(services, caller, lastEventId, isGone),
    }),
  }),
}
