import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { serialize } from 'node:v8'
import { LIMITS } from '../../src/authoring/load/limits.ts'
import { loadPolicySet } from '../../src/authoring/load/load.ts'
import { withLists } from '../../src/files/policies.ts'
import { policyFolders } from '../../src/files/policy-folders.ts'
import { readPolicyFolders, readTenantFolder } from '../../src/files/read-folders.ts'
import { HEADER } from '../authoring/sources.ts'
import { inThisThread, temporaryFolder, writeFiles } from '../helpers.ts'

const WITH_LIST = 'lists: {out: {file: lists/out.txt}}\n'

test('a policy is parsed once for its lists, and the lists are still watched', async () => {
  const dir = temporaryFolder()
  writeFiles(dir, { 'acme/main.yaml': WITH_LIST, 'acme/lists/out.txt': 'a', 'other/main.yaml': 'tenant: other\n' })
  const asked: string[][] = []
  const folders = policyFolders(dir, {
    listFiles(files) {
      asked.push(files.map(({ name }) => name))
      return inThisThread.policyWorker.listFiles(files)
    },
  })
  const before = await folders.read('acme')
  await folders.read('other')
  assert.equal((await folders.read('acme')).fingerprint, before.fingerprint)
  assert.deepEqual(asked, [['main.yaml']], 'a policy that names no list is not parsed at all')
  // The same size, and the same time.
  const path = join(dir, 'acme/lists/out.txt')
  const { atime, mtime } = statSync(path)
  writeFileSync(path, 'b')
  utimesSync(path, atime, mtime)
  assert.notEqual((await folders.read('acme')).fingerprint, before.fingerprint)
  writeFileSync(join(dir, 'acme/main.yaml'), `${WITH_LIST}# changed\n`)
  await folders.read('acme')
  assert.equal(asked.length, 2)
})

test('a file that is renamed is a change: a policy is no policy as a test', () => {
  const dir = temporaryFolder()
  writeFiles(dir, { 'acme/main.yaml': '', 'acme/more.yaml': '' })
  const [before] = readPolicyFolders(dir)
  renameSync(join(dir, 'acme/more.yaml'), join(dir, 'acme/more.test.yaml'))
  const [after] = readPolicyFolders(dir)
  assert.notEqual(after?.fingerprint, before?.fingerprint)
})

test('a policy that cannot be parsed in time is a fault of its folder alone, and is tried again after a minute', async (t) => {
  const dir = temporaryFolder()
  writeFiles(dir, { 'acme/main.yaml': WITH_LIST, 'other/main.yaml': 'tenant: other\n' })
  let tries = 0
  const folders = policyFolders(dir, {
    listFiles() {
      tries += 1
      return Promise.resolve({ fault: 'takes too long' })
    },
  })
  await folders.read('acme')
  assert.deepEqual((await folders.read('acme')).source, { problem: 'takes too long' })
  assert.ok('files' in (await folders.read('other')).source)
  assert.equal(tries, 1)
  const now = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => now() + 61_000)
  await folders.read('acme')
  assert.equal(tries, 2)
})

test('of a file without end, no more is read than tells that it is too large', () => {
  const dir = temporaryFolder()
  writeFiles(dir, { 'acme/main.yaml': '', 'acme/more.yaml': WITH_LIST, 'acme/lists/out.txt': '' })
  truncateSync(join(dir, 'acme/main.yaml'), 3 * 1024 ** 3)
  truncateSync(join(dir, 'acme/lists/out.txt'), 3 * 1024 ** 3)
  const source = readPolicyFolders(dir)[0]?.source
  assert.ok(source && 'files' in source)
  assert.equal(source.files.find(({ name }) => name === 'main.yaml')?.bytes.byteLength, LIMITS.fileBytes + 1)
  assert.deepEqual(source.lists.get('lists/out.txt'), { problem: `has more than ${LIMITS.listBytes} bytes` })
  assert.ok(loadPolicySet(source).diagnostics.some(({ code }) => code === 'GATE1001'))
})

test('what is neither a file nor a folder is never opened, since a pipe would hold up the service', async (t) => {
  const dir = temporaryFolder()
  writeFiles(dir, { 'acme/main.yaml': 'lists: {out: {file: out}}\n' })
  // Sockets stand for pipes: who opens one fails at once instead of waiting forever.
  for (const name of ['out', 'more.yaml']) {
    const socket = createServer().listen(join(dir, 'acme', name))
    t.after(() => socket.close())
    await once(socket, 'listening')
  }
  const source = readPolicyFolders(dir)[0]?.source
  assert.ok(source && 'files' in source, JSON.stringify(source))
  assert.deepEqual(
    source.files.map(({ name }) => name),
    ['main.yaml'],
  )
  assert.deepEqual(source.ignored, ['more.yaml'])
  assert.deepEqual(source.lists.get('out'), { problem: 'is not a file' })
})

const ALL_LISTS = `apiVersion: gate-sidecar/v1
tenant: acme
lists:
`

const MISNAMED: [what: string, path: string, make: (path: string) => void, lists?: string][] = [
  ['a policy that is a folder', 'zz.yaml', mkdirSync],
  ['a test that is a folder', 'zz.test.json', mkdirSync],
  ['a policy that is a folder in which a list lies', 'zz.yaml', mkdirSync, 'lists: {out: {file: zz.yaml/out.txt}}\n'],
  ['a policy that is a link to a device', 'zz.yml', (path) => symlinkSync('/dev/null', path)],
  ['a policy that is a link to a folder', 'zz.yaml', (path) => symlinkSync('lists', path)],
  ['an ending in capitals', 'zz.YAML', (path) => writeFileSync(path, HEADER)],
]

for (const [what, name, make, lists = ''] of MISNAMED) {
  test(`what is named as a policy and cannot be read is an error: ${what}`, () => {
    const dir = temporaryFolder()
    writeFiles(dir, { 'acme/main.yaml': HEADER + lists, 'acme/lists/a.txt': 'x' })
    make(join(dir, 'acme', name))
    const { source } = readTenantFolder(dir, 'acme')
    assert.ok('files' in source)
    const { set, diagnostics } = loadPolicySet(source)
    const told = diagnostics.filter(({ code }) => code !== 'GATE1213' && code !== 'GATE2002')
    assert.deepEqual([set, told.map(({ file, code }) => `${file} ${code}`)], [undefined, [`acme/${name} GATE1023`]])
  })
}

interface ListRow {
  what: string
  lists: string
  files: Record<string, string>
  told: string[]
}

const LIST_ROWS: ListRow[] = [
  {
    what: 'lists beside the policies and in folders of their own are not told of as ignored',
    lists: '  a: {file: ./a.txt}\n  b: {file: data/../data/b.txt}\n  c: {file: lists//c.txt}\n',
    files: { 'a.txt': 'x', 'data/b.txt': 'x', 'lists/c.txt': 'x', 'notes.md': '' },
    told: ['acme/notes.md:1 GATE2001'],
  },
  {
    what: 'a file is meant that lies in the folder and no list names',
    lists:
      '  a: {file: out.txt}\n  b: {file: lists/sanctoned.txt}\n  c: {file: lists/lating.txt}\n  d: {file: lists/latin.txt}\n',
    files: { 'data/out.txt': 'x', 'lists/sanctioned.txt': 'x', 'lists/latin.txt': 'x', 'lists/.lating.txt': 'x' },
    told: [
      'acme/data:1 GATE2001',
      'acme/main.yaml:4 GATE1213 data/out.txt',
      'acme/main.yaml:5 GATE1213 lists/sanctioned.txt',
      'acme/main.yaml:6 GATE1213',
    ],
  },
  {
    what: 'what is there, but is no file that can be read, is meant',
    lists: '  a: {file: lists}\n  b: {file: .}\n  c: {file: lists/out.txt}\n',
    files: { 'lists/out.txt': ' '.repeat(LIMITS.listBytes + 1), 'lists/outs.txt': 'x' },
    told: ['acme/main.yaml:4 GATE1213', 'acme/main.yaml:5 GATE1213', 'acme/main.yaml:6 GATE1213'],
  },
  {
    what: 'what a policy that cannot be read may name is not told of as ignored',
    lists: `  a: {file: a.txt}\n${'\u0001\n'.repeat(21)}`,
    files: { 'a.txt': 'x', 'b.txt': 'x' },
    told: ['acme/b.txt:1 GATE2001', 'acme/main.yaml:5 GATE1003'],
  },
]

for (const { what, lists, files, told } of LIST_ROWS) {
  test(`files of lists: ${what}`, () => {
    const dir = temporaryFolder()
    writeFiles(join(dir, 'acme'), { 'main.yaml': ALL_LISTS + lists, ...files })
    const source = readPolicyFolders(dir)[0]?.source
    assert.ok(source && 'files' in source)
    const { diagnostics } = loadPolicySet(source)
    const lines = diagnostics
      .filter(({ code }) => code !== 'GATE2002')
      .map(({ file, line, code, suggestion }) => `${file}:${line} ${code} ${suggestion ?? ''}`.trim())
    assert.deepEqual(lines, told)
  })
}

const MIB = 1024 * 1024
const FOLDERS: [what: string, policies: number, lists: number][] = [
  ['many policies', 17, 0],
  ['large lists', 0, 3],
  ['both together', 9, 1],
]

for (const [what, policies, lists] of FOLDERS) {
  test(`a folder is not read beyond what a set may hold: ${what}`, () => {
    const dir = temporaryFolder()
    const names = Array.from({ length: lists }, (_, i) => `lists/${i}.txt`)
    const declared = names.map((name, i) => `  l${i}: {file: ${name}}\n`).join('')
    writeFiles(dir, { 'acme/main.yaml': `lists:\n${declared}`, 'other/main.yaml': '' })
    writeFiles(join(dir, 'acme'), Object.fromEntries(names.map((name) => [name, ' '.repeat(8 * MIB)])))
    for (let i = 0; i < policies; i += 1) writeFileSync(join(dir, `acme/p${i}.yaml`), '#'.repeat(MIB))
    const [acme, other] = readPolicyFolders(dir)
    assert.deepEqual(acme?.source, { problem: `holds more than ${LIMITS.setBytes} bytes of policies and lists` })
    assert.ok(other && 'files' in other.source)
  })
}

for (const place of ['elsewhere', 'policies/acme-eu']) {
  test(`files of lists: a link out of the folder, to ${place}, tells nothing of what lies there`, () => {
    const dir = temporaryFolder()
    writeFiles(dir, {
      [`${place}/sanctions.txt`]: 'a',
      'policies/acme/main.yaml': `${ALL_LISTS}  a: {file: lists/sanctions.txt}\n  b: {file: lists/sanction.txt}\n`,
    })
    symlinkSync(join(dir, place), join(dir, 'policies/acme/lists'))
    const source = readPolicyFolders(join(dir, 'policies'))[0]?.source
    assert.ok(source && 'files' in source)
    assert.deepEqual(source.lists.get('lists/sanctions.txt'), { problem: 'lies outside the tenant folder' })
    const faults = loadPolicySet(source).diagnostics.filter(({ code }) => code === 'GATE1213')
    assert.deepEqual(
      faults.map(({ suggestion }) => suggestion),
      [null, null],
    )
  })
}

test('files of one version with lists of the next are no reading of the folder', async () => {
  const dir = temporaryFolder()
  const acme = join(dir, 'acme')
  for (const version of ['..1', '..2'])
    writeFiles(join(acme, version), { 'main.yaml': 'lists: {out: {file: out.txt}}\n', 'out.txt': version })
  symlinkSync('..1', join(acme, '..data'))
  for (const name of ['main.yaml', 'out.txt']) symlinkSync(`..data/${name}`, join(acme, name))
  const folders = policyFolders(dir, {
    listFiles(files) {
      // The kubelet brings the next version in with these steps.
      symlinkSync('..2', join(acme, '..tmp'))
      renameSync(join(acme, '..tmp'), join(acme, '..data'))
      return inThisThread.policyWorker.listFiles(files)
    },
  })
  assert.deepEqual((await folders.read('acme')).source, { problem: 'was replaced while it was read; try again' })
  const { source } = await folders.read('acme')
  assert.ok('lists' in source)
  assert.equal(String(source.lists.get('out.txt')), '..2')
})

/** What must never be read: a whole policy, so that a reader that takes it in has no fault to tell of. */
const FOREIGN = `${HEADER}# secret-of-another\n`
const OUTSIDE = { 'elsewhere/secret.yaml': FOREIGN, 'policies/other/main.yaml': FOREIGN }

interface LinkRow {
  what: string
  files?: Record<string, string>
  links: Record<string, string>
  told: string[]
}

const LINK_ROWS: LinkRow[] = [
  {
    what: 'a policy that is a link to a file elsewhere',
    links: { 'acme/zz.yaml': '../../elsewhere/secret.yaml' },
    told: ['acme/zz.yaml GATE1022'],
  },
  {
    what: 'a policy that is a link to that of another tenant, by its absolute path',
    links: { 'acme/zz.yaml': '/policies/other/main.yaml' },
    told: ['acme/zz.yaml GATE1022'],
  },
  {
    what: 'tests and policies, through links of links and folders',
    links: {
      'acme/.way': '../../elsewhere',
      'acme/.again': '.way',
      'acme/a.json': '.again/secret.yaml',
      'acme/a.test.yaml': '.way/secret.yaml',
    },
    told: ['acme/a.json GATE1022', 'acme/a.test.yaml GATE1022'],
  },
  {
    what: 'the environment of the process itself',
    links: { 'acme/zz.yaml': '//proc/self/environ' },
    told: ['acme/zz.yaml GATE1022'],
  },
  {
    what: 'links inside the folder, through a hidden folder too, are followed',
    files: { 'acme/..1/one.yaml': HEADER, 'acme/..1/two.yaml': HEADER },
    links: { 'acme/..data': '..1', 'acme/one.yaml': '..data/one.yaml', 'acme/two.yaml': '/policies/acme/..1/two.yaml' },
    told: [],
  },
  {
    what: 'the folder of a tenant that is a link to another one of the folder',
    files: { '..1/moved/main.yaml': HEADER },
    links: { '..data': '..1', moved: '..data/moved' },
    told: [],
  },
  {
    what: 'the folder of a tenant that is a link out of the folder of all',
    links: { gone: '../elsewhere' },
    told: ['gone GATE1022'],
  },
]

for (const { what, files = {}, links, told } of LINK_ROWS) {
  test(`no file outside of its folder is read: ${what}`, (t) => {
    if (Object.values(links).some((to) => to.startsWith('//')) && !existsSync('/proc/self/environ')) return t.skip()
    const dir = temporaryFolder()
    const policies = join(dir, 'policies')
    writeFiles(dir, OUTSIDE)
    writeFiles(policies, { 'acme/main.yaml': HEADER, ...files })
    for (const [name, to] of Object.entries(links))
      symlinkSync(to.startsWith('/policies') ? dir + to : to, join(policies, name))
    const read = readPolicyFolders(policies).filter(({ tenant }) => tenant !== 'other')
    const sources = read.map(({ source }) => source)
    assert.ok(!Buffer.from(serialize(sources)).includes('secret-of-another'))
    const faults = sources.flatMap((source) => {
      if (!('files' in source)) return [source.problem]
      const wrong = loadPolicySet(source).diagnostics.filter(({ code }) => code !== 'GATE1110')
      return wrong.map(({ file, code }) => `${file} ${code}`)
    })
    assert.deepEqual(faults, told)
  })
}

test('a file that is exchanged for a link while it is read is never read through it', async (t) => {
  const dir = temporaryFolder()
  writeFiles(dir, { ...OUTSIDE, 'policies/acme/in/main.yaml': HEADER, 'policies/acme/in/out.txt': 'own' })
  writeFileSync(join(dir, 'elsewhere/main.yaml'), FOREIGN)
  writeFileSync(join(dir, 'elsewhere/out.txt'), 'secret-of-another')
  const acme = join(dir, 'policies/acme')
  symlinkSync('in', join(acme, 'way'))
  for (const name of ['main.yaml', 'out.txt']) symlinkSync(`way/${name}`, join(acme, name))
  const script = `const fs = require('node:fs'); process.chdir(process.argv[1])
    for (let n = 0; ; n += 1) { fs.symlinkSync(n % 2 ? 'in' : '../../elsewhere', '.tmp'); fs.renameSync('.tmp', 'way') }`
  const child = spawn(process.execPath, ['-e', script, acme], { stdio: 'inherit' })
  t.after(() => child.kill('SIGKILL'))
  await once(child, 'spawn')
  const seen = { own: 0, outside: 0 }
  const files = [{ name: 'main.yaml', bytes: new Uint8Array() }]
  for (let n = 0; n < 1_000_000 && (seen.own < 500 || seen.outside < 500); n += 1) {
    const { source } = readTenantFolder(join(dir, 'policies'), 'acme')
    const reading = { tenant: 'acme', folder: acme, files, outside: [], digest: '', version: undefined, ignored: [] }
    const listed = withLists(join(dir, 'policies'), reading, ['out.txt']).source
    assert.ok(!Buffer.from(serialize([source, listed])).includes('secret-of-another'))
    if ('files' in source) seen[source.files.length > 0 ? 'own' : 'outside'] += 1
  }
  assert.ok(seen.own >= 500 && seen.outside >= 500, JSON.stringify(seen))
})
