import { eventStream } from '../../actions/events/events.ts'
import { route } from '../route.ts'
import { EventText, eventsExample } from './shapes.ts'

export const eventRoutes = {
  events: route({
    data: EventText,
    bare: 'text/event-stream',
    resumable: true,
    example: eventsExample,
    handle: (services, { caller, lastEventId, isGone }) => ({
      stream: eventStream(services, caller, lastEventId, isGone),
    }),
  }),
}
