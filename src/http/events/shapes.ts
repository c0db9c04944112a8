import { Type } from '#typebox'
import { EXAMPLE } from '../common-shapes.ts'

export const EventText = Type.String({
  description:
    'Server-sent events. `event` is a type of the audit trail, `data` one line of JSON `{id, timestamp, eventType, data}`; a block with an id alone is a sign of life.',
})

const event = {
  id: EXAMPLE.entry,
  timestamp: EXAMPLE.time,
  eventType: 'gate.decision',
  data: { id: EXAMPLE.decision, action: 'payment.transfer', decision: 'allow' },
}

export const eventsExample = {
  data: `retry: 1000\n: ok\nid: 7-0\n\nid: 8-0\nevent: gate.decision\ndata: ${JSON.stringify(event)}\n\n`,
}
