import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Corpus } from '../../evaluation/corpus.ts'
import { ARTEFACTS, BENCHMARKS, publishedFor } from '../../evaluation/published.ts'
import { reportOf } from '../../evaluation/report.ts'
import { call, SMALL, session } from './support.ts'

const DECIDERS = new Map([
  ['clean#1', 'unknown-addressee'],
  ['attacked#1', 'not-asked'],
])
const RUN = { concurrency: 4, latencies: [3, 1, 2], chartName: 'chart.svg', deciders: DECIDERS }
const corpus: Corpus = { sessions: SMALL, tasks: undefined }
const DECISIONS = new Map([
  ['clean#0', 'allow'],
  ['clean#1', 'require_approval'],
  ['attacked#0', 'allow'],
  ['attacked#1', 'deny'],
  ['told#0', 'allow'],
])
const { page, svg } = reportOf(corpus, DECISIONS, RUN)

/** Every row of the tables of a page, its cells joined. */
function rowsOf(text: string): string[] {
  const cells = text.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  return cells.filter((row) => row.length > 2).map((row) => row.slice(1, -1).join(' | '))
}

describe('the page', () => {
  const ROWS: readonly { name: string; row: readonly string[]; of?: string }[] = [
    { name: 'headline', row: ['attack success', '100.00 → 0.00'] },
    { name: 'interruption', row: ['clean sessions interrupted', '100.00'] },
    { name: 'utility', row: ['utility, holds granted / refused', '100.00 → 100.00 / 0.00'] },
    { name: 'no defence', row: ['no defence', '100.00', '0.00', '100.00', '100.00', '1 + 1'] },
    { name: 'ours', row: ['**gate-sidecar**', '0.00', '100.00', '100.00 / 0.00', '100.00', '1 + 1'] },
    {
      name: 'a reference policy',
      row: ['hold third-party arguments', '100.00', '0.00', '100.00 / 100.00', '100.00', '1 + 1'],
    },
    { name: 'a published defence', row: ['published: tool filter', '6.84', '', '72.16', '56.28', '629 + 97'] },
    { name: 'attacks of a suite', row: ['agentdojo/mail', '1', '100.00 → 0.00', '0.00', '0.00', '100.00'] },
    { name: 'an attack without a call', row: ['other/web', '1', '100.00 → 100.00', '100.00', '100.00', ''] },
    {
      name: 'users of a suite',
      row: ['agentdojo/mail', '66.67 / 33.33 / 0.00', '1', '100.00', '100.00 → 100.00 / 0.00', '100.00 → 100.00'],
    },
    { name: 'a slice', row: ['kept-apart', 'other', '1 + 0', '100.00 → 100.00', '', '', ''] },
    { name: 'a rule that stopped an attacker', row: ['**agentdojo**', '`not-asked`', 'deny', '1', '0', '0'] },
    { name: 'a rule that people pay for', row: ['', '`unknown-addressee`', 'require_approval', '0', '1', '1'] },
    { name: 'the loosest setting', row: ['what is held is allowed', '0.00', '0.00', '100.00'] },
    { name: 'the policies as they are', row: ['the policies as they are', '0.00', '100.00', '0.00'] },
    { name: 'what succeeds still', row: ['other/web', '1 of 1', '1', '`i` 1 of 1', ''] },
    { name: 'what does not', row: ['agentdojo/mail', '0 of 1', '0', '', ''] },
  ]
  for (const { name, row: wanted } of ROWS) {
    test(`has ${name}`, () => {
      assert.ok(rowsOf(page).includes(wanted.join(' | ')), rowsOf(page).join('\n'))
    })
  }

  test('says how the calls were sent, and how long answers took', () => {
    assert.match(page, /, 4 sessions side by side\./)
    assert.match(page, /^Latency of 3 answers: p50 2\.0 ms, p95 3\.0 ms, p99 3\.0 ms\.$/m)
    assert.match(page, /done to 5 tool calls/)
  })

  test('is the same for the same decisions, but for the line about latency', () => {
    const again = reportOf(corpus, DECISIONS, { ...RUN, latencies: [9] })
    const without = (text: string) => text.replace(/^Latency of \d+ answers.*$/m, '')
    assert.equal(without(again.page), without(page))
    assert.notEqual(again.page, page)
    assert.equal(again.svg, svg)
  })

  test('has no place left open, no oracle where its data is missing, no empty lines in a row', () => {
    assert.doesNotMatch(page, /\{\{|undefined|NaN|\n\n\n/)
    assert.doesNotMatch(page, /oracle/)
    assert.match(reportOf({ ...corpus, tasks: [] }, DECISIONS, RUN).page, /oracle/)
  })

  test('without slices there is no table of them; without a benchmark none to compare, and no chart', () => {
    const { page: other, svg: none } = reportOf(
      { sessions: [session([call('1')], { source: 'x' })], tasks: undefined },
      new Map([['1', 'allow']]),
      RUN,
    )
    assert.doesNotMatch(other, /By slice|chart\.svg|\n\n\n/)
    assert.match(other, /no whole set of a benchmark/)
    assert.equal(none, undefined)
  })

  test('names goals and tools of attacks that succeed, and nothing that was written in them', () => {
    const args = { to: 'mallory@example.com', body: 'Send it all to me' }
    const needed = { label: 'attack', role: 'goal', necessary_for_attack: true, action: 'mail.send' } as const
    const sessions = ['goal_1', 'goal_2', 'goal_2'].map((injection_task, i) =>
      session([call(`${i}`, { ...needed, args })], {
        ...{ session: `${i}`, injection_task },
        prompt: 'A secret request',
      }),
    )
    const allowed = new Map(sessions.map((_, i) => [`${i}`, i === 1 ? 'deny' : 'allow']))
    const written = reportOf({ sessions, tasks: undefined }, allowed, RUN).page
    assert.ok(rowsOf(written).includes('a/b | 2 of 3 | 0 | `goal_1` 1 of 1, `goal_2` 1 of 2 | `mail.send` 2'))
    assert.doesNotMatch(written, /mallory|Send it all|secret/)
  })
})

describe('published figures', () => {
  /** As they were counted apart from this program: attack success, utility, utility under attack. */
  const KNOWN: Readonly<Record<string, Readonly<Record<string, readonly [number, number, number]>>>> = {
    agentdojo: {
      'no defence': [47.69, 69.07, 50.08],
      spotlighting: [41.65, 72.16, 55.64],
      'repeat user prompt': [27.82, 84.54, 67.25],
      'PI detector': [7.95, 41.24, 21.14],
      'tool filter': [6.84, 72.16, 56.28],
    },
    agentdyn: {
      'no defence': [38.93, 53.33, 55.36],
      'repeat user prompt': [32.14, 63.33, 56.07],
      'PromptGuard 2': [28.39, 60, 21.43],
      spotlighting: [28.04, 55, 52.14],
      'tool filter': [4.46, 8.33, 5],
      'PI detector': [0.89, 0, 0.54],
      PIGuard: [1.79, 10, 1.43],
      Progent: [1.79, 6.67, 5.71],
      DRIFT: [0.89, 30, 27.14],
    },
  }
  for (const benchmark of BENCHMARKS) {
    test(`of ${benchmark.title} are those that were counted from the logs`, () => {
      const rows = publishedFor(benchmark).map(({ title, attackSuccess, utility, utilityUnderAttack }) => [
        title,
        [attackSuccess, utility, utilityUnderAttack],
      ])
      assert.deepEqual(Object.fromEntries(rows), KNOWN[benchmark.source])
    })
  }

  test('a run that was not recorded is an error', () => {
    const [first] = BENCHMARKS
    assert.ok(first)
    assert.throws(() => publishedFor({ ...first, pipeline: 'gpt-9' }), /no run of agentdojo, gpt-9, none/)
  })

  test('that were not counted again say where they are from', () => {
    for (const { from } of ARTEFACTS) assert.notEqual(from, '')
  })
})
