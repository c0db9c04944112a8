import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { readCorpus, sourcesOf } from '../../evaluation/corpus.ts'
import { CannotRun } from '../../src/cli/context.ts'
import { temporaryFolder, writeFiles } from '../helpers.ts'
import { CORPUS, call, corpusFiles, SMALL, session } from './support.ts'

function folderOf(files: Readonly<Record<string, string>>): string {
  const dir = temporaryFolder()
  writeFiles(dir, files)
  return dir
}

test('the recordings that come with the project are whole', () => {
  const corpus = readCorpus(CORPUS)
  assert.equal(corpus.sessions.length, 1049)
  assert.equal(corpus.sessions.flatMap(({ calls }) => calls).length, 5092)
  assert.deepEqual(sourcesOf(corpus), ['agentdojo', 'agentdyn', 'injecagent', 'tau-bench'])
  assert.ok(corpus.tasks !== undefined && corpus.tasks.length > 100)
})

test('a corpus is read with the calls of each session in their order, wherever their lines stand', () => {
  const calls = [call('2', { order: 2 }), call('0'), call('1', { order: 1 })]
  const { sessions, tasks } = readCorpus(folderOf(corpusFiles([session(calls)])))
  assert.deepEqual(
    sessions[0]?.calls.map(({ id }) => id),
    ['0', '1', '2'],
  )
  assert.equal(tasks, undefined)
})

const files = corpusFiles(SMALL)
const REFUSALS: readonly { name: string; files: Record<string, string>; message: RegExp }[] = [
  { name: 'no folder', files: {}, message: /sessions\.jsonl cannot be read\. A corpus is a folder/ },
  {
    name: 'no calls',
    files: { 'sessions.jsonl': String(files['sessions.jsonl']) },
    message: /calls\.jsonl cannot be read/,
  },
  { name: 'nothing in it', files: { 'sessions.jsonl': '', 'calls.jsonl': '' }, message: /has no calls to replay/ },
  {
    name: 'a line that is no JSON',
    files: { ...files, 'calls.jsonl': `${files['calls.jsonl']}{"id": 1,}\n` },
    message: /calls\.jsonl:6: /,
  },
  {
    name: 'a line that is cut off',
    files: { ...files, 'sessions.jsonl': String(files['sessions.jsonl']).slice(0, -5) },
    message: /sessions\.jsonl:3: /,
  },
  {
    name: 'a call without an action',
    files: { ...files, 'calls.jsonl': '\n{"id":"1","session":"clean","order":0,"label":"benign"}\n' },
    message: /calls\.jsonl:2: \/action is required/,
  },
  {
    name: 'a label that is none',
    files: corpusFiles([session([{ ...call('1'), label: 'good' as 'benign' }])]),
    message: /calls\.jsonl:1: \/label must be one of/,
  },
  {
    name: 'a call of no session',
    files: { ...files, 'calls.jsonl': `${JSON.stringify(call('1', { session: 'nowhere' }))}\n` },
    message: /calls\.jsonl:1: sessions\.jsonl has no session nowhere/,
  },
  {
    name: 'a call twice',
    files: { ...files, 'calls.jsonl': `${files['calls.jsonl']}${files['calls.jsonl']}` },
    message: /calls\.jsonl:6: the call clean#0 is there twice/,
  },
  {
    name: 'a session twice',
    files: { ...files, 'sessions.jsonl': `${files['sessions.jsonl']}${files['sessions.jsonl']}` },
    message: /sessions\.jsonl:4: the session clean is there twice/,
  },
  {
    name: 'tasks that are none',
    files: { ...files, 'tasks.json': '[{}]' },
    message: /tasks\.json: \/0\/source is required/,
  },
]

describe('what is no corpus is refused with the place of its fault', () => {
  for (const { name, files: given, message } of REFUSALS) {
    test(name, () => {
      const folder = join(folderOf(given), Object.keys(given).length === 0 ? 'none' : '')
      assert.throws(
        () => readCorpus(folder),
        (error) => error instanceof CannotRun && message.test(error.message) && error.message.includes(folder),
      )
    })
  }
})
