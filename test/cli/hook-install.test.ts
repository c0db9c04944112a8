import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { readJson } from '../../src/base/json.ts'
import { type HookGroup, UnusableSettings, withHooks } from '../../src/cli/hook/settings.ts'
import { startGate, temporaryFolder, writeFiles } from '../helpers.ts'
import { BIN, type Ended, run, runBuilt } from './program.ts'

const FOLDER = fileURLToPath(new URL('../testdata/claude-code/', import.meta.url))
const hook = (name: string): string => readFileSync(join(FOLDER, `${name}.json`), 'utf8')
const INSTALL = ['hook', 'claude-code', '--tenant', 'acme', '--install']
const SETTINGS = '.claude/settings.json'

const COMMAND =
  'gate-sidecar hook claude-code --tenant acme --url http://127.0.0.1:4283 --approval-timeout 9m --on-allow pass || exit 2'
const HANDLER = { type: 'command', command: COMMAND, timeout: 600, onFailure: 'block' }
const GROUP = { matcher: '*', hooks: [HANDLER] }

/** A project, with these settings if there are any. */
function project(settings?: string): string {
  const root = temporaryFolder()
  if (settings !== undefined) writeFiles(root, { [SETTINGS]: settings })
  return root
}

const install = (cwd: string, args: readonly string[] = ['--yes'], env: Record<string, string> = {}): Promise<Ended> =>
  run([...INSTALL, ...args], { cwd, env })
const settingsIn = (root: string): string => readFileSync(join(root, SETTINGS), 'utf8')

async function installed(root: string, args?: readonly string[]): Promise<string> {
  const { code, stderr } = await install(root, args)
  assert.equal(code, 0, stderr)
  return settingsIn(root)
}

describe('where there are no settings', () => {
  test('a file with the hook of every tool is written, and shown', async () => {
    const root = project()
    const { code, stdout } = await install(root)
    assert.equal(code, 0)
    assert.match(stdout, /^--- .*settings\.json\n\+\+\+ [\s\S]*\n\+ {12}"type": "command",\n[\s\S]*GATE_SIDECAR_KEY/)
    assert.deepEqual(JSON.parse(settingsIn(root)), { hooks: { PreToolUse: [GROUP] } })
  })

  test('each scope has its file', async () => {
    const [root, home, own] = [project(), temporaryFolder(), temporaryFolder()]
    const rows: [args: string[], env: Record<string, string>, file: string][] = [
      [[], {}, join(root, '.claude/settings.json')],
      [['--scope', 'project'], {}, join(root, '.claude/settings.json')],
      [['--scope', 'local'], {}, join(root, '.claude/settings.local.json')],
      [['--scope', 'user'], { HOME: home, CLAUDE_CONFIG_DIR: '' }, join(home, '.claude/settings.json')],
      [['--scope', 'user'], { HOME: home, CLAUDE_CONFIG_DIR: own }, join(own, 'settings.json')],
    ]
    for (const [args, env, file] of rows) {
      assert.equal((await install(root, [...args, '--yes'], env)).code, 0, file)
      assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { hooks: { PreToolUse: [GROUP] } }, file)
    }
  })

  test('address, tenant and options are in the command; the key is in no file', async () => {
    const root = project()
    const args = ['--url', 'https://gate.example/a b', '--approval-timeout', '2m', '--on-allow', 'grant', '--outcomes']
    const { stdout } = await install(root, [...args, '--yes'], { GATE_SIDECAR_KEY: 'sk_live_secret' })
    const { hooks } = JSON.parse(settingsIn(root))
    assert.equal(
      hooks.PreToolUse[0].hooks[0].command,
      "gate-sidecar hook claude-code --tenant acme --url 'https://gate.example/a b' --approval-timeout 2m --on-allow grant --outcomes || exit 2",
    )
    assert.equal(hooks.PreToolUse[0].hooks[0].timeout, 180)
    const later = {
      type: 'command',
      command: "gate-sidecar hook claude-code --tenant acme --url 'https://gate.example/a b' || true",
      timeout: 30,
      async: true,
    }
    for (const event of ['PostToolUse', 'PostToolUseFailure'])
      assert.deepEqual(hooks[event], [{ matcher: '*', hooks: [later] }])
    assert.doesNotMatch(stdout + settingsIn(root), /secret/)
  })

  test('address and tenant of the environment are written down too', async () => {
    const root = project()
    const env = { GATE_SIDECAR_URL: 'http://127.0.0.1:9', GATE_SIDECAR_TENANT: 'beta' }
    assert.equal((await run(['hook', 'claude-code', '--install', '--yes'], { cwd: root, env })).code, 0)
    assert.match(settingsIn(root), /--tenant beta --url http:\/\/127\.0\.0\.1:9 /)
  })
})

for (const [what, mode, isWarned] of [
  ['not on the path', undefined, true],
  ['on the path, and cannot be run', 0o644, true],
  ['on the path', 0o755, false],
] as const) {
  test(`the hook is written ${isWarned ? 'with' : 'without'} a warning where the program is ${what}`, async () => {
    const [root, bin] = [project(), temporaryFolder()]
    if (mode !== undefined) {
      writeFiles(bin, { 'gate-sidecar': '#!/bin/sh\n' })
      chmodSync(join(bin, 'gate-sidecar'), mode)
    }
    const env = { PATH: bin }
    for (const status of ['changed', 'unchanged']) {
      const { stdout, code } = await install(root, ['--yes', '--json'], env)
      assert.deepEqual([code, JSON.parse(stdout).status, JSON.parse(stdout).onPath], [0, status, !isWarned])
      const again = await install(root, ['--yes'], env)
      assert.equal(/Warning: gate-sidecar is not on the PATH, .* full path/.test(again.stdout), isWarned, again.stdout)
    }
  })
}

describe('what cannot be used is refused, and nothing is written', () => {
  const rows: [name: string, args: string[], said: RegExp][] = [
    ['no tenant', ['hook', 'claude-code', '--install', '--yes'], /needs a tenant/],
    ['a tenant that is none', [...INSTALL, '--tenant', "a'; rm -rf ~", '--yes'], /is not a tenant id/],
    ['an address that is none', [...INSTALL, '--url', 'gate', '--yes'], /not an http or https URL/],
    ['a scope that is none', [...INSTALL, '--scope', 'all', '--yes'], /Allowed choices are project, local, user/],
  ]
  for (const [name, args, said] of rows) {
    test(name, async () => {
      const root = project()
      const { code, stderr } = await run(args, { cwd: root })
      assert.equal(code, 2)
      assert.match(stderr, said)
      assert.deepEqual(readdirSync(root), [])
    })
  }
})

const INSERTED = JSON.stringify(GROUP, null, 2)
const OTHER = '{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "lint.sh" }] }'

describe('what is in the settings stays as it is', () => {
  const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`)
  const rows: [name: string, before: string, after: string][] = [
    [
      'an empty object',
      '{}',
      `{\n  "hooks": {\n    "PreToolUse": [\n      ${indented(INSERTED, '      ')}\n    ]\n  }\n}`,
    ],
    [
      'members in a style of their own',
      '{\n  "model": "opus",   "n": 1.0, "u": "\\u00e9",\n  "permissions": { "deny": ["Read(.env)"] }\n}\n',
      `{\n  "model": "opus",   "n": 1.0, "u": "\\u00e9",\n  "permissions": { "deny": ["Read(.env)"] },\n  "hooks": {\n    "PreToolUse": [\n      ${indented(INSERTED, '      ')}\n    ]\n  }\n}\n`,
    ],
    [
      'hooks of other events',
      '{\n  "hooks": {\n    "Stop": []\n  }\n}\n',
      `{\n  "hooks": {\n    "Stop": [],\n    "PreToolUse": [\n      ${indented(INSERTED, '      ')}\n    ]\n  }\n}\n`,
    ],
    [
      'other hooks of the same event',
      `{\n  "hooks": {\n    "PreToolUse": [\n      ${OTHER}\n    ]\n  }\n}\n`,
      `{\n  "hooks": {\n    "PreToolUse": [\n      ${OTHER},\n      ${indented(INSERTED, '      ')}\n    ]\n  }\n}\n`,
    ],
    [
      'an empty list',
      '{\n  "hooks": {\n    "PreToolUse": []\n  }\n}\n',
      `{\n  "hooks": {\n    "PreToolUse": [\n      ${indented(INSERTED, '      ')}\n    ]\n  }\n}\n`,
    ],
    [
      'all on one line',
      `{"hooks":{"PreToolUse":[${OTHER}]}}`,
      `{"hooks":{"PreToolUse":[${OTHER}, ${JSON.stringify(GROUP)}]}}`,
    ],
  ]
  const styles: [name: string, of: (text: string) => string][] = [
    ['two spaces', (text) => text],
    ['four spaces', (text) => text.replace(/^( +)/gm, '$1$1')],
    ['tabs', (text) => text.replace(/^( +)/gm, (spaces) => '\t'.repeat(spaces.length / 2))],
    ['CRLF', (text) => text.replaceAll('\n', '\r\n')],
  ]
  for (const [name, before, wanted] of rows) {
    for (const [style, of] of name === 'an empty object' ? styles.slice(0, 1) : styles) {
      test(`${name}, ${style}`, () => {
        assert.equal(withHooks(of(before), [{ event: 'PreToolUse', group: GROUP }]), of(wanted))
      })
    }
  }

  test('in a file, with its mode', async () => {
    const before = '{\r\n\t"model": "opus"\r\n}\r\n'
    const root = project(before)
    chmodSync(join(root, SETTINGS), 0o600)
    const text = await installed(root)
    assert.ok(text.startsWith('{\r\n\t"model": "opus",\r\n\t"hooks": {\r\n\t\t"PreToolUse": ['))
    assert.equal(text.replaceAll('\r\n', '').includes('\n'), false)
    assert.deepEqual(readdirSync(join(root, '.claude')), ['settings.json'])
  })

  test('whatever the settings are: nothing else is changed, and a second time changes nothing', () => {
    const groups: HookGroup[] = [{ event: 'PreToolUse', group: GROUP }]
    const other = fc.record({ matcher: fc.string(), hooks: fc.array(fc.record({ command: fc.string() })) })
    const hooks = fc.dictionary(fc.constantFrom('Stop', 'PreToolUse', 'PostToolUse'), fc.array(other))
    const settings = fc.record({ hooks, model: fc.string(), more: fc.jsonValue() }, { requiredKeys: [] })
    const space = fc.constantFrom(undefined, 1, 2, 4, '\t')
    fc.assert(
      fc.property(settings, space, fc.boolean(), (value, indent, crlf) => {
        const plain = JSON.stringify(value, null, indent)
        fc.pre(readJson(plain, { maxDepth: 30 }) !== undefined)
        const after = withHooks(crlf ? plain.replaceAll('\n', '\r\n') : plain, groups)
        const wanted = structuredClone(value) as { hooks?: Record<string, unknown[]> }
        wanted.hooks = { ...wanted.hooks, PreToolUse: [...(wanted.hooks?.PreToolUse ?? []), GROUP] }
        assert.deepEqual(JSON.parse(after), JSON.parse(JSON.stringify(wanted)))
        assert.equal(withHooks(after, groups), after)
      }),
    )
  })
})

test('a second time nothing is written; with other options, the hook is replaced where it stands', async () => {
  const root = project(`{\n  "hooks": {\n    "PreToolUse": [\n      ${OTHER}\n    ]\n  }\n}\n`)
  const first = await installed(root)
  const again = await install(root, [])
  assert.equal(again.code, 0)
  assert.match(again.stdout, /settings\.json already has this hook\.\n/)
  assert.equal(settingsIn(root), first)
  const changed = await installed(root, ['--approval-timeout', '30s', '--yes'])
  assert.equal(changed, first.replace('--approval-timeout 9m', '--approval-timeout 30s').replace('600', '90'))
  // An entry that somebody narrowed would leave tools without the gate.
  writeFileSync(join(root, SETTINGS), changed.replace('"*"', '"Edit|Write"'))
  assert.equal(await installed(root, ['--approval-timeout', '30s', '--yes']), changed)
})

describe('settings that cannot be changed are left alone', () => {
  const rows: [name: string, settings: string, said: RegExp][] = [
    ['comments', '{\n  // mine\n  "model": "opus"\n}', /is not valid JSON: Expected a string as key/],
    ['a comma too many', '{"model": "opus",}', /is not valid JSON/],
    ['a BOM', '\ufeff{}', /is not valid JSON/],
    ['nothing', '', /is not valid JSON/],
    ['a list', '[]', /is not a JSON object/],
    ['hooks that are a list', '{"hooks": []}', /has a member hooks that is not an object/],
    [
      'an event that is an object',
      '{"hooks": {"PreToolUse": {}}}',
      /has a member hooks\.PreToolUse that is not a list/,
    ],
    ['hooks that are turned off', '{"disableAllHooks": true}', /disableAllHooks/],
    ['the hook twice', JSON.stringify({ hooks: { PreToolUse: [GROUP, GROUP] } }), /more than once/],
    [
      'the hook beside another',
      JSON.stringify({ hooks: { PreToolUse: [{ ...GROUP, hooks: [{ ...HANDLER, timeout: 1 }, HANDLER] }] } }),
      /more than once, or next to others/,
    ],
  ]
  for (const [name, settings, said] of rows) {
    test(name, async () => {
      const root = project(settings)
      const { code, stdout, stderr } = await install(root)
      assert.deepEqual([code, stdout], [3, ''])
      assert.match(stderr, said)
      assert.equal(settingsIn(root), settings)
    })
  }

  test('a link to elsewhere, of the file or its folder, also one that leads nowhere', async () => {
    const elsewhere = temporaryFolder()
    writeFiles(elsewhere, { 'settings.json': '{}' })
    const links: ((root: string) => void)[] = [
      (root) => {
        mkdirSync(join(root, '.claude'))
        symlinkSync(join(elsewhere, 'settings.json'), join(root, SETTINGS))
      },
      (root) => symlinkSync(elsewhere, join(root, '.claude')),
      (root) => {
        mkdirSync(join(root, '.claude'))
        symlinkSync(join(elsewhere, 'new.json'), join(root, SETTINGS))
      },
    ]
    for (const link of links) {
      const root = project()
      link(root)
      const { code, stderr } = await install(root)
      assert.equal(code, 3, stderr)
      assert.deepEqual(readdirSync(elsewhere), ['settings.json'])
      assert.equal(readFileSync(join(elsewhere, 'settings.json'), 'utf8'), '{}')
    }
  })

  test('a folder in its place', async () => {
    const root = project()
    mkdirSync(join(root, SETTINGS), { recursive: true })
    const { code, stderr } = await install(root)
    assert.equal(code, 3)
    assert.match(stderr, /is not a regular file/)
  })

  test('a link within the project is followed, and stays a link', async () => {
    const root = project()
    writeFiles(root, { 'config/claude.json': '{}' })
    mkdirSync(join(root, '.claude'))
    symlinkSync('../config/claude.json', join(root, SETTINGS))
    assert.match(await installed(root), /gate-sidecar hook/)
    assert.match(readFileSync(join(root, 'config/claude.json'), 'utf8'), /gate-sidecar hook/)
  })
})

describe('nothing is written that nobody confirmed', () => {
  test('without a terminal and without --yes: the change is shown, exit 1', async () => {
    const root = project('{}')
    for (const args of [[], ['--json']]) {
      const { code, stdout } = await install(root, args)
      assert.equal(code, 1)
      assert.match(stdout, args.length === 0 ? /\+ .*gate-sidecar hook[\s\S]*Nothing was changed/ : /"to be changed"/)
      assert.equal(settingsIn(root), '{}')
    }
  })

  const rows: [answer: string, isYes: boolean][] = [
    ['y\n', true],
    ['YES\n', true],
    ['n\n', false],
    ['\n', false],
    ['yy\n', false],
    ['\u0004', false],
  ]
  for (const [answer, isYes] of rows) {
    test(`on a terminal, ${JSON.stringify(answer)} is a ${isYes ? 'yes' : 'no'}`, () => {
      const root = project('{}')
      const command = `'${process.execPath}' '${BIN}' ${INSTALL.join(' ')}`
      const ended = spawnSync('script', ['-qec', command, '/dev/null'], { cwd: root, input: answer, encoding: 'utf8' })
      assert.match(ended.stdout, /gate-sidecar hook claude-code[\s\S]*Make these changes\? \[y\/N\]/)
      assert.equal(ended.status, isYes ? 0 : 1)
      assert.equal(settingsIn(root) === '{}', !isYes)
    })
  }
})

describe('the command that is written', async () => {
  const policy = `
apiVersion: gate-sidecar/v1
tenant: acme
rules:
  - {id: reads, actions: [Read, Write], effect: allow, reason: Reading is free.}
  - {id: fails, actions: [Bash], effect: allow, reason: Commands too.}
`
  const gate = await startGate({ after }, { policies: { 'acme/main.yaml': policy } })
  const agent = await gate.key({ roles: ['agent'] })
  const auditor = await gate.key({ roles: ['auditor'] })
  const state = temporaryFolder()

  /** A folder with a program of this name, for the search path. */
  function programs(script: string): string {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'gate-sidecar'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    return folder
  }
  const real = programs(`exec '${process.execPath}' '${BIN}' "$@"`)

  /** Runs a hook of the settings as Claude Code does: through `sh -c`. */
  function asClaudeCode(
    root: string,
    event: string,
    input: string,
    path = real,
  ): Promise<{ code: number; out: string }> {
    const [{ hooks }] = JSON.parse(settingsIn(root)).hooks[event]
    const child = spawn('sh', ['-c', hooks[0].command], {
      cwd: root,
      env: {
        PATH: [path, ...String(process.env.PATH).split(delimiter)].join(delimiter),
        GATE_SIDECAR_KEY: agent.secret,
        XDG_STATE_HOME: state,
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let out = ''
    child.stdin.on('error', () => undefined).end(input)
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk
    })
    return new Promise((resolve) => child.once('close', (code) => resolve({ code: code ?? -1, out })))
  }
  const at = async (...args: string[]): Promise<string> => {
    const root = project()
    await installed(root, ['--url', gate.server.url, ...args, '--yes'])
    return root
  }

  test('lets through what the gate allows, and blocks the rest', async () => {
    const root = await at()
    assert.deepEqual(await asClaudeCode(root, 'PreToolUse', hook('read')), { code: 0, out: '{}\n' })
    assert.deepEqual(await asClaudeCode(root, 'PreToolUse', hook('mcp')), { code: 2, out: '' })
  })

  const broken: [name: string, folder: () => string][] = [
    ['is missing', () => temporaryFolder()],
    ['cannot be run', () => programs('exec /nowhere/node')],
    ['is killed', () => programs('kill -KILL $$')],
    ['is aborted', () => programs('kill -ABRT $$')],
    ['ends with 1', () => programs('exit 1')],
    ['ends with 127', () => programs('exit 127')],
    ['cannot load its own code', () => programs(`exec '${process.execPath}' /nowhere/gate-sidecar.js`)],
  ]
  for (const [name, folder] of broken) {
    test(`blocks where the program ${name}`, async () => {
      assert.deepEqual(await asClaudeCode(await at(), 'PreToolUse', hook('read'), folder()), { code: 2, out: '' })
    })
  }

  test('is one command for the shell, whatever the address is', async () => {
    const root = project()
    const url = `${gate.server.url}/$(touch made)/'; touch made; '/\`touch made\``
    assert.equal((await install(root, ['--url', url, '--yes'])).code, 0)
    assert.equal((await asClaudeCode(root, 'PreToolUse', hook('read'))).code, 2)
    assert.equal(existsSync(join(root, 'made')), false)
  })

  describe('with --outcomes', () => {
    const recorded = async (): Promise<{ status: string; durationMs: number }[]> => {
      const { data } = (await gate.call(auditor, 'GET', '/audit/chain?eventType=outcome.recorded')).body
      return data.map(({ data: told }: { data: { status: string; durationMs: number } }) => told)
    }
    const notes = (): string[] => readdirSync(join(state, 'gate-sidecar', 'calls'))

    test('what becomes of a call is told, once, and the note of it is gone', async () => {
      const root = await at('--outcomes')
      for (const [pre, post, status] of [
        ['write', 'post-tool-use', 'succeeded'],
        ['bash', 'post-tool-use-failure', 'failed'],
      ] as const) {
        assert.equal((await asClaudeCode(root, 'PreToolUse', hook(pre))).code, 0)
        assert.equal(notes().length, 1)
        const event = post === 'post-tool-use' ? 'PostToolUse' : 'PostToolUseFailure'
        for (let times = 0; times < 2; times += 1)
          assert.deepEqual(await asClaudeCode(root, event, hook(post)), { code: 0, out: '' })
        assert.deepEqual(notes(), [])
        assert.equal((await recorded())[0]?.status, status)
      }
      assert.equal((await recorded()).length, 2)
    })

    test('a hook after a call is quiet, whatever fails', async () => {
      const root = await at('--outcomes')
      assert.equal((await asClaudeCode(root, 'PreToolUse', hook('write'))).code, 0)
      const rows: [input: string, path: string][] = [
        ['', real],
        [hook('post-tool-use').slice(0, -4), real],
        [hook('post-tool-use').replace('toolu', 'other'), real],
        [hook('post-tool-use'), temporaryFolder()],
      ]
      for (const [input, path] of rows)
        assert.deepEqual(await asClaudeCode(root, 'PostToolUse', input, path), { code: 0, out: '' })
      const env = { GATE_SIDECAR_KEY: agent.secret, XDG_STATE_HOME: state }
      const down = ['hook', 'claude-code', '--tenant', 'acme', '--url', 'http://127.0.0.1:1']
      const noKey = ['hook', 'claude-code', '--tenant', 'acme', '--url', gate.server.url]
      const input = hook('post-tool-use')
      assert.deepEqual(await runBuilt(down, { env, input }), { code: 0, stdout: '', stderr: '' })
      assert.deepEqual(await runBuilt(noKey, { env: { XDG_STATE_HOME: state }, input }), {
        code: 0,
        stdout: '',
        stderr: '',
      })
    })

    test('notes are in a folder of this user alone; where they cannot be, the call is decided all the same', async () => {
      const root = await at('--outcomes')
      const folder = join(state, 'gate-sidecar', 'calls')
      assert.equal((await asClaudeCode(root, 'PreToolUse', hook('write'))).code, 0)
      chmodSync(folder, 0o755)
      assert.equal((await asClaudeCode(root, 'PreToolUse', hook('bash').replace('toolu_01', 'toolu_02'))).code, 0)
      chmodSync(folder, 0o700)
      assert.equal(notes().length, 1)
      assert.equal((await asClaudeCode(root, 'PreToolUse', hook('mcp'))).code, 2)
    })
  })

  test('without --outcomes no note is left', async () => {
    const own = temporaryFolder()
    const env = { GATE_SIDECAR_KEY: agent.secret, XDG_STATE_HOME: own, GATE_SIDECAR_URL: gate.server.url }
    assert.equal((await run(['hook', 'claude-code', '--tenant', 'acme'], { env, input: hook('read') })).code, 0)
    assert.deepEqual(readdirSync(own), [])
  })
})

test('settings that cannot be read are told by their own kind of error', () => {
  assert.throws(() => withHooks('x', [{ event: 'PreToolUse', group: GROUP }]), UnusableSettings)
})
