import * as Type from '#typebox'
import { eventStream } from '../../actions/events/events.ts'
import { EXAMPLE } from '../common-shapes.ts'
import { route } from '../route.ts'

const EventText = Type.String({
  description:
    'Server-sent events. `event` is a type of the audit trail, `data` one line of JSON `{id, timestamp, eventType, data}`; a block with an id alone is a sign of life.',
})

const event = {
  id: EXAMPLE.entry,
  timestamp: EXAMPLE.time,
  eventType: 'gate.decision',
  data: { id: EXAMPLE.decision, action: 'payment.transfer', decision: 'allow' },
}

export const eventRoutes = {
  events: route({
    data: EventText,
    bare: 'text/event-stream',
    resumable: true,
    example: {
      data: `retry: 1000\n: ok\nid: 7-0\n\nid: 8-0\nevent: gate.decision\ndata: ${JSON.stringify(event)}\n\n`,
    },
    reply: async (services, call) => ({
      stream: eventStream(services, call.caller, call.lastEventId, () => call.isGone()),
    }),
  }),
}
