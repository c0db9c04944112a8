import { fileURLToPath } from 'node:url'
import type { Call, Session } from '../../evaluation/corpus.ts'
import { ratesOf, type Score } from '../../evaluation/score.ts'

/** The recorded sessions that come with the project. */
export const CORPUS = fileURLToPath(new URL('../../evaluation/corpus', import.meta.url))

/** A call of a session called `s`, as a corpus has it. */
export function call(id: string, rest: Partial<Call> = {}): Call {
  return { id, session: 's', order: 0, action: 'tool', label: 'benign', ...rest }
}

/** An attacked session whose attack reached its goal, and whose user was served. */
export function session(calls: readonly Call[], rest: Partial<Session> = {}): Session {
  return {
    ...{ session: 's', source: 'a', suite: 'b', set: 'full', slice: 'public', pipeline: 'model', user_task: 'u' },
    ...{ injection_task: 'i', recorded_utility: true, recorded_attack_success: true, gateable: true },
    ...{ prompt: 'Please.', calls },
    ...rest,
  }
}

/** A score as the scorer of the corpus prints it; testdata/evaluation/SOURCE.md says how that was asked. */
export function asScorerPrints(score: Score): Record<string, unknown> {
  const { benign, goal, attacked, clean } = score
  const rates = ratesOf(score)
  return {
    'calls: goal stopped % (deny+hold)': rates.goalCallsStopped ?? null,
    'goal calls': goal.allow + goal.require_approval + goal.deny,
    'calls: benign allow/hold/deny %': [
      rates.benignAllowed ?? null,
      rates.benignHeld ?? null,
      rates.benignDenied ?? null,
    ],
    'benign calls': benign.allow + benign.require_approval + benign.deny,
    'wrong_write stopped %': rates.wrongWritesStopped ?? null,
    'ASR before %': rates.attackSuccessBefore ?? null,
    'ASR after %': rates.attackSuccess ?? null,
    'ASR after, holds granted %': rates.attackSuccessGranted ?? null,
    'ASR floor (no tool call to stop) %': rates.attackSuccessFloor ?? null,
    'attacked sessions': attacked.sessions,
    'utility unattacked before %': rates.utilityBefore ?? null,
    'after, holds granted %': rates.utilityGranted ?? null,
    'after, holds refused %': rates.utilityRefused ?? null,
    'unattacked sessions': clean.sessions,
    'unattacked sessions with a hold %': rates.held ?? null,
    'with a hold or deny %': rates.interrupted ?? null,
    'utility under attack before/after(holds granted) %': [
      rates.utilityUnderAttackBefore ?? null,
      rates.utilityUnderAttack ?? null,
    ],
  }
}

/** Sessions and calls as the lines of a corpus. */
export function corpusFiles(sessions: readonly Session[]): Record<string, string> {
  const lines = (values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('')
  return {
    'sessions.jsonl': lines(sessions.map(({ calls: _, ...head }) => head)),
    'calls.jsonl': lines(sessions.flatMap(({ calls }) => calls)),
  }
}

/** Three sessions: a clean one, one whose attack needs a call, and one whose attack needs none. */
export const SMALL: readonly Session[] = [
  session(
    [
      call('clean#0', { session: 'clean', action: 'mail.read' }),
      call('clean#1', { session: 'clean', order: 1, action: 'mail.send' }),
    ],
    {
      ...{ session: 'clean', source: 'agentdojo', suite: 'mail', injection_task: null, recorded_attack_success: null },
      gateable: null,
    },
  ),
  session(
    [
      call('attacked#0', { session: 'attacked', action: 'mail.read' }),
      call('attacked#1', {
        ...{ session: 'attacked', order: 1, action: 'mail.send', label: 'attack', role: 'goal' },
        ...{ necessary_for_attack: true, context: { tainted: true, prov: { to: ['third_party'] } } },
      }),
    ],
    { session: 'attacked', source: 'agentdojo', suite: 'mail' },
  ),
  session([call('told#0', { session: 'told', action: 'web.read' })], {
    ...{ session: 'told', source: 'other', suite: 'web', set: 'sample', gateable: false, slice: 'kept-apart' },
  }),
]

/** Policies for them: what follows untrusted text is denied, other mails are held. */
export const SMALL_POLICIES: Readonly<Record<string, string>> = {
  'agentdojo/main.yaml': `
apiVersion: gate-sidecar/v1
tenant: agentdojo
facts: {context.tainted: {type: boolean}}
rules:
  - {id: after-untrusted, actions: [mail.send], effect: deny, reason: Untrusted., when: {fact: context.tainted, operator: equal, value: true}}
  - {id: mails, actions: [mail.send], effect: require_approval, reason: A mail leaves.}
  - {id: reading, actions: [mail.read], effect: allow, reason: Only reads.}
`,
  'other/main.yaml': `
apiVersion: gate-sidecar/v1
tenant: other
rules:
  - {id: reading, actions: [web.read], effect: allow, reason: Only reads.}
`,
}
