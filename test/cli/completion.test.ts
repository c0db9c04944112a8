import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { COMMANDS } from '../../src/cli/commands.ts'
import { allCommands, createProgram } from '../../src/cli/program.ts'
import { temporaryFolder, writeFiles } from '../helpers.ts'
import { run } from './program.ts'

const root = temporaryFolder()

before(async () => {
  const { code, stdout, stderr } = await run(['completion', 'bash'])
  assert.equal(code, 0, stderr)
  writeFiles(root, { 'completion.bash': stdout })
})

/** Returns bash's completions after these words, the last of which is being written. */
function complete(words: readonly string[]): string[] {
  const script = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gate_sidecar; printf '%s\\n' "\${COMPREPLY[@]}"`
  const args = ['--norc', '-c', script, join(root, 'completion.bash'), 'gate-sidecar', ...words]
  const { status, stdout, stderr } = spawnSync('bash', args, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  assert.equal(stderr, '')
  return stdout.split('\n').filter((line) => line !== '')
}

const ROWS: { words: string[]; offers: string[] }[] = [
  { words: ['tena'], offers: ['tenants'] },
  { words: ['keys', 'l'], offers: ['list'] },
  { words: ['keys', 'create', '--envi'], offers: ['--environment'] },
  { words: ['keys', 'create', '--environment', ''], offers: ['live', 'test'] },
  { words: ['keys', 'create', '--environment', '=', 't'], offers: ['test'] },
  { words: ['keys', 'create', '--environment', '='], offers: ['live', 'test'] },
  { words: ['keys', 'create', '--role', 'a'], offers: ['agent', 'approver', 'auditor', 'admin'] },
  // The value of an option that is also the name of a command.
  { words: ['keys', 'create', '--tenant', 'keys', '--envi'], offers: ['--environment'] },
  { words: ['--json', 'keys', 'l'], offers: ['list'] },
  { words: ['completion', 'z'], offers: ['zsh'] },
  { words: ['validate', '--format', ''], offers: ['text', 'json', 'github', 'sarif'] },
  { words: ['killswitch', 'trigger', '--json', '--level', 'L'], offers: ['L1', 'L2', 'L3', 'L4'] },
  // Left to the file names of the shell.
  { words: ['validate', '--policies', ''], offers: [] },
  { words: ['keys', 'x y', '$(echo no)', ''], offers: [] },
]
for (const { words, offers } of ROWS) {
  test(`completion bash: ${JSON.stringify(words)}`, () => {
    const offered = complete(words)
    // A new command or option may join the others.
    if (offers.length === 0 && words.length === 4) assert.ok(!offered.includes('no'))
    else assert.deepEqual(offered, offers)
  })
}

test('completion bash: every command and option that there is', async () => {
  const program = await createProgram(COMMANDS)
  const levels = allCommands(program).map((command) => {
    const path: string[] = []
    for (let at = command; at.parent; at = at.parent) path.unshift(at.name())
    const options = command.options.flatMap(({ long }) => long ?? [])
    return { path, wanted: [...command.commands.map((child) => child.name()), ...options, '--help'] }
  })
  assert.ok(levels.length > 15)
  for (const { path, wanted } of levels) {
    const offered = complete([...path, ''])
    assert.deepEqual(
      wanted.filter((word) => !offered.includes(word)),
      [],
      path.join(' '),
    )
  }
})

test('completion zsh and fish: the same words, each quoted', async () => {
  for (const shell of ['zsh', 'fish']) {
    const { code, stdout } = await run(['completion', shell])
    assert.equal(code, 0)
    for (const command of allCommands(await createProgram(COMMANDS)).slice(1))
      assert.ok(stdout.includes(command.name()), command.name())
    // An odd number of quotes on a line would be a text that does not end.
    for (const line of stdout.split('\n').filter((text) => !text.startsWith('#')))
      assert.equal(line.replaceAll(/\\./g, '').split("'").length % 2, 1, line)
  }
})
