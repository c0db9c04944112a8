import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { GateSession } from '@gate-sidecar/client'
import { type ModelCall, recordingTools, type ToolBox } from './promises.ts'
import { world } from './world.ts'

/** Context of a conversation, as an application passes it through a framework. */
export type Conversation = { session: GateSession }

/** Runs one conversation to its end. @returns the results that its model read */
type Converse = (conversation: Conversation, turns: ModelCall[][]) => Promise<string[]>

/** A framework whose tools are wrapped once, with a function that finds the session of each call. */
export interface SharedSubject {
  name: string
  /** Reason that it cannot be tested here. */
  skip?: string | undefined
  wrap(tools: ToolBox): Converse
}

const read: ModelCall = { name: 'read_file', args: { path: 'bill.txt' } }
const pay: ModelCall = { name: 'pay', args: { recipient: 'US13', amount: 50 } }

/** Holds an adapter to what it promises of tools that serve several conversations. */
export async function holdToSessions(subjects: readonly SharedSubject[]): Promise<void> {
  const gate = await world({ after })
  for (const { name, skip, wrap } of subjects) {
    describe(name, skip === undefined ? {} : { skip }, () => {
      test('what one conversation reads taints it alone', async () => {
        const { tools, ran } = recordingTools()
        const converse = wrap(tools)
        const [reading, other] = [await gate.session(), await gate.session({ isSameAgent: true })]
        await converse({ session: reading }, [[read]])
        assert.deepEqual([reading.isTainted, other.isTainted], [true, false])
        const [refused, paid] = await Promise.all([
          converse({ session: reading }, [[pay]]),
          converse({ session: other }, [[pay]]),
        ])
        assert.match(refused.join(), /The recipient is from text of others\./)
        assert.match(paid.join(), /paid 50/)
        assert.deepEqual(ran, ['read bill.txt', 'pay 50 to US13'])
      })
      for (const [what, found] of [
        ['nothing', undefined],
        ['null', null],
        ['a text', 'session'],
        ['an object that is no session', { permit: () => true }],
        ['the promise of a session', Promise.resolve()],
      ] as const) {
        test(`no call runs where the function finds ${what}, and the error says so`, async () => {
          const { tools, ran } = recordingTools()
          // Applications in JavaScript have no compiler that would object.
          const conversation = { session: found } as unknown as Conversation
          const told = await wrap(tools)(conversation, [[pay]]).catch((error: unknown) => [String(error)])
          assert.match(told.join(), /There is no gate session for this call\./)
          assert.deepEqual(ran, [])
        })
      }
    })
  }
}
