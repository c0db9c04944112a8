import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { askerOf } from './asker.ts'
import { COMMAND, createKey, serve, TENANT } from './gate.ts'
import { gateQuestion } from './payment.ts'
import { run, temporaryFolder } from './processes.ts'
import { median, round } from './stats.ts'

const ROUNDS = 10
/** Interval between two checks for the effect of a command. */
const LOOK_MS = 5

export interface FollowResult {
  /** Command whose change a running service follows. */
  command: string
  medianMs: number
  longestMs: number
}

interface Decision {
  decision: string
  decisionId: string
  approvalId: string
}

/** Measures the delay from the end of a command to its effect in the built service: none, README says. */
export async function measureFollow(): Promise<FollowResult[]> {
  const folder = temporaryFolder('follow')
  const data = ['--data', folder]
  const command = (...args: string[]) => run(process.execPath, [COMMAND, ...args, ...data])
  const [agent, approver] = [await createKey(folder, 'agent'), await createKey(folder, 'approver')]
  const server = await serve(folder)
  const ask = askerOf<Decision | undefined>(server.found, agent.key, TENANT)
  const payment = JSON.parse(gateQuestion(agent.key, TENANT).body) as { context: object }
  const check = (by = ask) => by('POST', '/gate/check', payment)
  const until = async (isSo: () => Promise<boolean>) => {
    const beganMs = performance.now()
    while (!(await isSo())) await sleep(LOOK_MS)
    return performance.now() - beganMs
  }
  const stop = ['--tenant', TENANT, '--level', 'L3']

  const measured: Record<string, () => Promise<number>> = {
    'killswitch trigger': async () => {
      await command('killswitch', 'trigger', ...stop, '--reason', 'drill')
      return until(async () => (await check())?.decision === 'deny')
    },
    'killswitch recover': async () => {
      await command('killswitch', 'recover', ...stop, '--comment', 'over')
      return until(async () => (await check())?.decision === 'allow')
    },
    'keys revoke': async () => {
      const { id, key } = await createKey(folder, 'agent')
      const other = askerOf<Decision | undefined>(server.found, key, TENANT)
      await until(async () => (await check(other)) !== undefined)
      await command('keys', 'revoke', id)
      return until(async () => (await check(other)) === undefined)
    },
    'approvals approve, seen by a waiting agent': async () => {
      const held = await ask('POST', '/gate/check', { ...payment, context: { ...payment.context, amount: 20_000 } })
      const path = `/approvals/${held?.approvalId}`
      const waiting = askerOf<object>(server.found, agent.key, TENANT)('GET', `${path}?wait=25`)
      await command('approvals', 'approve', held?.approvalId ?? '', '--key', approver.key, '--approver-id', 'ann')
      const beganMs = performance.now()
      await waiting
      return performance.now() - beganMs
    },
    'audit tail --follow, after an entry': async () => {
      const args = [COMMAND, 'audit', 'tail', '--tenant', TENANT, '--follow', '--json', ...data]
      const tail = spawn(process.execPath, args)
      const told: string[] = []
      createInterface(tail.stdout).on('line', (line) => told.push(line))
      // Entries from before show that it follows.
      await until(async () => told.length > 0)
      const done = await check()
      const ms = await until(async () => told.some((line) => line.includes(done?.decisionId ?? '')))
      tail.kill('SIGTERM')
      await once(tail, 'exit')
      return ms
    },
  }
  const times = Object.entries(measured).map(([name, measure]) => ({ name, measure, ms: [] as number[] }))
  try {
    for (let i = 0; i < ROUNDS; i += 1) for (const { measure, ms } of times) ms.push(await measure())
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
  return times.map(({ name, ms }) => ({
    command: name,
    medianMs: round(median(ms), 0),
    longestMs: round(Math.max(...ms), 0),
  }))
}
