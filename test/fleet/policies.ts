import assert from 'node:assert/strict'
import { join } from 'node:path'
import { post, type Service } from '../e2e/processes.ts'
import { ACME_POLICY, temporaryFolder, writeFiles } from '../helpers.ts'
import { fleet } from './fleet.ts'

const DENYING = `${ACME_POLICY}  - {id: stop, actions: ["**"], effect: deny, reason: Nothing for now.}\n`

const dir = temporaryFolder()
writeFiles(dir, { 'allowing/main.yaml': ACME_POLICY, 'denying/main.yaml': DENYING })

/** A fleet that takes its policies from the store, which has the set `allowing`. */
export async function pushedFleet(t: Parameters<typeof fleet>[0]) {
  const all = await fleet(t)
  const agent = await all.key('agent')
  const words = (name: 'allowing' | 'denying') => ['policies', 'push', join(dir, name), '--tenant', 'acme', '--json']
  const push = (name: 'allowing' | 'denying') => all.run(...words(name))
  const first = await push('allowing')
  assert.equal(first.code, 0, first.stderr)
  return {
    ...all,
    push,
    pushArgs: (name: 'allowing' | 'denying') => all.args(...words(name)),
    /** Digest of the set `allowing`. */
    digest: digestIn(first),
    serve: () => all.serve('--policies', 'store:'),
    /** The decision about a mail, and its set. */
    async check({ url }: Service) {
      const answer = await post(url, agent, '/gate/check', { action: 'email.send' })
      assert.ok(answer)
      const { decision, decidedBy, policyDigest } = answer.body.data
      return { decision, decidedBy, policyDigest }
    },
    async loads(): Promise<{ digest: string; by: string; inForce: boolean }[]> {
      return JSON.parse((await all.run('policies', 'history', '--tenant', 'acme', '--json')).stdout)
    },
  }
}

export function digestIn({ stdout }: { stdout: string }): string {
  return JSON.parse(stdout).digest
}
