import { flowYaml } from '../authoring/format/flow.ts'
import { formatDocument } from '../authoring/format/format.ts'
import { API_VERSION } from '../authoring/shapes/document.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { formatTimestamp } from '../base/time.ts'
import { visible } from '../base/visible.ts'
import { historyFrom } from '../gate/history.ts'
import { judge } from '../gate/judge.ts'
import type { PolicySet } from '../policies/set.ts'
import type { Named } from './draft.ts'
import type { Example } from './examples.ts'
import { madeUp } from './made-up.ts'
import type { Tried } from './trial.ts'

/** Requests of a proposal that are tests now: changed by it, near them, made up, and those that no test can tell. */
export interface Tested {
  changed: number
  near: number
  madeUp: number
  untested: number
}

export interface TestFile {
  /** Undefined without tests. */
  text: string | undefined
  tested: ReadonlyMap<string, Tested>
}

interface Sets {
  base: PolicySet
  draft: PolicySet
}

/**
 * Tests from recorded requests. A test knows no earlier action and no approval: a request that the sets decide otherwise
 * without them makes none, nor does one that a file cannot hold. Where no recorded request changes, one is made up.
 */
export async function testFileOf(
  sets: Sets,
  proposals: readonly Named[],
  tried: ReadonlyMap<string, Tried>,
  about: string,
): Promise<TestFile> {
  const file = testFile()
  const tested = new Map<string, Tested>()
  for (const proposal of proposals) {
    const { changed = [], near = [] } = tried.get(proposal.id) ?? {}
    const counts: Tested = { changed: 0, near: 0, madeUp: 0, untested: 0 }
    for (const example of [...changed, ...near]) {
      const added = await file.add(sets, proposal.id, example)
      if (added === 'tested') counts[example.from === example.to ? 'near' : 'changed'] += 1
      if (added === 'untested') counts.untested += 1
    }
    for (const example of counts.changed > 0 ? [] : madeUp(proposal, near))
      if ((await file.add(sets, proposal.id, example)) === 'tested') counts.madeUp += 1
    tested.set(proposal.id, counts)
  }
  return { text: file.text(sets.draft.tenant, about), tested }
}

/** Collects the parts of a file of tests. */
function testFile() {
  const fixtures = {
    contexts: new Map<string, Json>(),
    plans: new Map<string, Json>(),
    agents: new Map<string, Json>(),
  }
  const tests: string[] = []
  return {
    /** Adds a test of a request. One that another proposal changes is `elsewhere`. */
    async add({ base, draft }: Sets, proposal: string, example: Example): Promise<'tested' | 'untested' | 'elsewhere'> {
      const { id, action, context, plan, agent, nowMs, from, to } = example
      const [before, after] = [await decided(base, example), await decided(draft, example)]
      if (before.decision !== from || !isHeld([context, plan ?? null])) return 'untested'
      if (after.decision !== to) return from === to ? 'elsewhere' : 'untested'
      const roots = new Set([base, draft].flatMap((set) => set.evaluator.about(action).facts.map(({ root }) => root)))
      const isOfAgent = roots.has('agent') || roots.has('environment')
      const matrix: JsonObject = {
        ...{ actions: [action], contexts: [nameIn(fixtures.contexts, id, context)] },
        ...(plan !== undefined && { plans: [nameIn(fixtures.plans, id, plan)] }),
        ...(isOfAgent && { agents: [nameIn(fixtures.agents, id, { ...agent })] }),
      }
      const name = `${proposal} ${from === to ? 'keeps' : 'changes'} ${id}`
      const now = roots.has('time') ? { now: formatTimestamp(nowMs) } : {}
      tests.push(flowYaml({ name, ...now, matrix, expect: { decision: to, rule: after.rule } }))
      return 'tested'
    },
    text(tenant: string, about: string): string | undefined {
      if (tests.length === 0) return undefined
      const sections = Object.entries(fixtures).flatMap(([section, values]) => [
        ...(values.size === 0 ? [] : ['', `${section}:`]),
        ...Array.from(values, ([name, value]) => `  ${flowYaml(name)}: ${flowYaml(value)}`),
      ])
      return [
        `# ${visible(about)}: recorded requests by the ids of their decisions, as far as conditions and schemas read them.`,
        ...[`apiVersion: ${API_VERSION}`, `tenant: ${flowYaml(tenant)}`, ...sections],
        ...['', 'tests:', ...tests.map((test) => `  - ${test}`), ''],
      ].join('\n')
    },
  }
}

/** The name of a fixture with this value, which is added where there is none. */
function nameIn(fixtures: Map<string, Json>, id: string, value: Json): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? id : `${id}-${number}`
    const known = fixtures.get(name)
    if (known === undefined) fixtures.set(name, value)
    if (known === undefined || JSON.stringify(known) === JSON.stringify(value)) return name
  }
}

/** True for a value that a file of tests can have: one with such keys and numbers. */
function isHeld(value: Json): boolean {
  return 'text' in formatDocument('a.yaml', new TextEncoder().encode(`a: ${flowYaml(value)}\n`))
}

async function decided(set: PolicySet, { action, context, plan, agent, nowMs }: Example) {
  const { identity, environment } = agent
  const query = { agent: identity, nowMs, action, context, plan }
  const { outcome } = await judge({
    ...{ ...query, set, environment, tenant: set.tenant },
    ...{ killSwitchReason: undefined, history: historyFrom(set, query, []) },
  })
  return outcome
}
