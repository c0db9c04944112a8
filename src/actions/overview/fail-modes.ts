/**
 * Behaviour of the service where something is missing or broken: the one table, for people. Nothing in it can be
 * configured, and none of these situations allows an action that would be denied otherwise.
 */
export const FAIL_MODES = [
  { situation: 'No policies are in force for the tenant.', behaviour: 'Every action is denied.' },
  {
    situation: 'The newest policy files have faults, or their tests fail.',
    behaviour: 'They do not come into force. The policies before them stay; without any, every action is denied.',
  },
  {
    situation: 'A rule lacks a fact that it asks for.',
    behaviour: 'It applies where it denies or asks for approval, and does not apply where it allows.',
  },
  {
    situation: 'A risk factor lacks a fact that it asks for.',
    behaviour: 'It adds the whole of its weight to the risk score.',
  },
  {
    situation: 'The audit trail cannot be written.',
    behaviour: 'Nothing is decided: a check is answered with the error audit_unavailable, which clients treat as deny.',
  },
  {
    situation: 'The audit trail contradicts its anchors.',
    behaviour: 'Nothing is written, and so nothing is decided, until they agree again.',
  },
  {
    situation: 'A stop cannot be written to disk.',
    behaviour:
      'It is in force all the same, and written as soon as that is possible; until then the service is not ready.',
  },
  {
    situation: 'Nobody decides about a held action before its deadline.',
    behaviour: 'The approval expires, and the action does not run.',
  },
  {
    situation: 'The service cannot be reached, or does not answer in time.',
    behaviour: 'Clients treat that as deny.',
  },
] as const
