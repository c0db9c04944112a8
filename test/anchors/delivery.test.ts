import assert from 'node:assert/strict'
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { METRICS } from '../../src/service/metric-table.ts'
import { type Cleanup, type Gate, startGate, temporaryFolder } from '../helpers.ts'
import { until } from '../until.ts'
import {
  anchored,
  anchoredGate,
  askedOf,
  keptLog,
  linesOf,
  metricsOf,
  type Received,
  readiness,
  receiver,
  SECRET,
  shortOf,
  signed,
} from './support.ts'

function posted(received: readonly Received[]): string[] {
  return received.flatMap(({ body }) => {
    const { checkpoints }: { checkpoints: { checkpoint: string }[] } = JSON.parse(body).data
    return checkpoints.map(({ checkpoint }) => shortOf(checkpoint))
  })
}

function webhookSettings(url: string) {
  const path = join(temporaryFolder(), 'secret')
  writeFileSync(path, SECRET, { mode: 0o600 })
  return { anchorUrl: url, anchorSecret: path }
}

const isOk = async (gate: Gate): Promise<boolean> =>
  (await readiness(gate)).anchors.sinks.every((one: { ok: boolean }) => one.ok)

test('each checkpoint goes to the file and to the webhook, in order, once, and the last ones when the service ends', async (t) => {
  const { url, received } = await receiver(t)
  const { gate, file, check, stop } = await anchoredGate(t, { settings: webhookSettings(url) })
  for (let n = 0; n < 3; n += 1) {
    await check()
    await stop()
    await until('it is anchored', () => posted(received).length > n && anchored(file).length > n)
  }
  await check()
  await gate.server.close()
  const all = await signed(gate.dir)
  assert.equal(all.length >= 5, true, String(all))
  assert.deepEqual(anchored(file), all)
  assert.deepEqual(posted(received), all)
})

test('what is not anchored shows, and that no sink is set', async (t) => {
  const bare = await startGate(t)
  assert.deepEqual((await readiness(bare)).anchors, { unanchoredEntries: null, sinks: [] })
  assert.equal((await metricsOf(bare)).includes('anchor_up'), false)
  const { gate, check, stop, ready } = await anchoredGate(t)
  await check()
  const before = (await ready()).anchors
  assert.equal(before.unanchoredEntries > 3, true)
  assert.deepEqual(before.sinks, [{ sink: 'file', ok: true, lastAt: null, failure: null }])
  const beginMs = Date.now()
  await stop()
  const after = await until('some is anchored', async () => {
    const { anchors } = await ready()
    return anchors.unanchoredEntries < before.unanchoredEntries && anchors
  })
  const lastMs = Date.parse(after.sinks[0].lastAt)
  assert.equal(lastMs >= beginMs && lastMs <= Date.now(), true)
  await until('the metric says the same', async () => {
    const { unanchoredEntries } = (await ready()).anchors
    return new RegExp(`^gate_sidecar_unanchored_entries ${unanchoredEntries}$`, 'm').test(await metricsOf(gate))
  })
})

test('the figures are in the text format of Prometheus, and name no tenant', async (t) => {
  const { gate, stop } = await anchoredGate(t)
  await stop()
  await until('it is anchored', async () => (await metricsOf(gate)).includes('last_success'))
  const response = await fetch(`${gate.server.url}/metrics`)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  assert.equal(response.headers.get('cache-control'), 'no-store')
  const text = await response.text()
  // Nothing has been verified yet, and a data file has no fleet.
  const names = Object.keys(METRICS).filter((name) => !/^(?:audit_v|fleet_)/.test(name))
  const families = text.split(/^# HELP /m).slice(1)
  assert.deepEqual(
    families.map((family) => family.split(' ')[0]),
    names.map((name) => `gate_sidecar_${name}`),
  )
  for (const family of families)
    assert.match(
      family,
      /^(\w+) [^\n]+\n# TYPE \1 (?:gauge|counter|histogram)\n(?:\1(?:_bucket|_sum|_count)?(?:\{[a-z]+="[^"\n]+"(?:,[a-z]+="[^"\n]+")*\})? [0-9.]+\n)+$/,
    )
  assert.match(text, /^gate_sidecar_anchor_up\{sink="file"\} 1$/m)
  assert.match(text, /^gate_sidecar_audit_chain_faults 0$/m)
  assert.equal(text.includes('acme'), false)
})

/** A sink that fails, and is mended. */
interface Broken {
  settings: Record<string, string>
  sink: 'file' | 'webhook'
  failure: RegExp
  mend(): void | Promise<void>
  taken(): string[]
}

function fileThat(
  breaks: (path: string) => void,
  failure: RegExp,
  mend: (path: string) => void,
): () => Promise<Broken> {
  return async () => {
    const path = join(temporaryFolder(), 'anchors.jsonl')
    breaks(path)
    return {
      settings: { anchorFile: path },
      sink: 'file',
      failure,
      mend: () => mend(path),
      taken: () => anchored(path),
    }
  }
}

function webhookThat(answer: RequestListener, failure: RegExp) {
  return async (t: Cleanup): Promise<Broken> => {
    let isMended = false
    const good: Received[] = []
    const { url } = await receiver(t, (received) => {
      if (!isMended) return answer
      good.push(received)
      return (_, response) => response.end()
    })
    return {
      settings: webhookSettings(url),
      sink: 'webhook',
      failure,
      mend() {
        isMended = true
      },
      taken: () => posted(good),
    }
  }
}

const BROKEN: [name: string, broken: (t: Cleanup) => Promise<Broken>][] = [
  [
    'a folder in place of the file',
    fileThat(
      (path) => mkdirSync(path),
      /cannot be read|not a regular file/,
      (path) => rmSync(path, { recursive: true }),
    ),
  ],
  [
    'a folder that is not there',
    fileThat(
      (path) => rmSync(join(path, '..'), { recursive: true }),
      /cannot be written: ENOENT/,
      (path) => mkdirSync(join(path, '..')),
    ),
  ],
  ['a webhook that answers 500', webhookThat((_, response) => response.writeHead(500).end(), /answered 500/)],
  ['a webhook that does not answer', webhookThat(() => undefined, /did not answer within 10 s/)],
  ['a webhook that cuts the connection', webhookThat((request) => void request.socket.destroy(), /cannot be reached/)],
]
for (const [name, broken] of BROKEN) {
  test(`${name}: checks go on, it shows, and nothing is skipped afterwards`, async (t) => {
    const { settings, sink, failure, mend, taken } = await broken(t)
    const { log, lines } = keptLog()
    const gate = await startGate(t, { settings, log })
    const { check, stop } = await askedOf(gate)
    const ask = async (): Promise<void> => assert.equal((await check()).status, 200)
    await ask()
    await stop()
    const state = await until('the failure shows', async () => {
      await ask()
      const { status, anchors } = await readiness(gate)
      assert.equal(status, 200)
      return !anchors.sinks[0].ok && anchors.sinks[0]
    })
    assert.match(state.failure, failure)
    assert.equal(state.lastAt, null)
    const metrics = await metricsOf(gate)
    assert.match(metrics, new RegExp(`^gate_sidecar_anchor_up\\{sink="${sink}"\\} 0$`, 'm'))
    assert.match(metrics, new RegExp(`^gate_sidecar_anchor_failures_total\\{sink="${sink}"\\} [1-9]`, 'm'))
    // Several attempts, one line of the log.
    if (name !== 'a webhook that does not answer')
      await until('it fails again', async () => /failures_total\S+ [2-9]/.test(await metricsOf(gate)))
    assert.equal(lines.filter(({ msg }) => msg === 'anchors are not taken').length, 1)
    await stop()
    await mend()
    await until('it is mended', async () => (await isOk(gate)) && taken().length > 0)
    assert.equal(lines.filter(({ msg }) => msg === 'anchors are taken again').length, 1)
    await gate.server.close()
    assert.deepEqual(taken(), await signed(gate.dir))
  })
}

test('a disk that becomes full: checks go on, it shows, and nothing is skipped afterwards', async (t) => {
  const folder = temporaryFolder()
  const [file, link] = [join(folder, 'real.jsonl'), join(folder, 'link.jsonl')]
  writeFileSync(file, '')
  symlinkSync(file, link)
  const gate = await startGate(t, { settings: { anchorFile: link } })
  const { check, stop } = await askedOf(gate)
  await stop()
  await until('it is anchored', () => anchored(file).length > 0)
  unlinkSync(link)
  symlinkSync('/dev/full', link)
  await stop()
  const { failure } = await until('the failure shows', async () => {
    assert.equal((await check()).status, 200)
    const [state] = (await readiness(gate)).anchors.sinks
    return !state.ok && state
  })
  assert.match(failure, /cannot be written: ENOSPC/)
  unlinkSync(link)
  symlinkSync(file, link)
  await until('it is mended', () => isOk(gate))
  await gate.server.close()
  assert.deepEqual(anchored(file), await signed(gate.dir))
})

test('one sink that fails holds up no other', async (t) => {
  const { url } = await receiver(t, () => () => undefined)
  const { file, stop } = await anchoredGate(t, { settings: webhookSettings(url) })
  await stop()
  await until('the file has it', () => anchored(file).length > 0)
  const before = anchored(file).length
  await stop()
  await until('and what came next', () => anchored(file).length > before)
})

test('checks and the end of the service do not wait for a receiver that does not answer', async (t) => {
  const { url, received } = await receiver(t, () => () => undefined)
  const gate = await startGate(t, { settings: webhookSettings(url) })
  const { check, stop } = await askedOf(gate)
  await stop()
  await until('it was sent', () => received.length > 0)
  assert.equal((await check()).status, 200)
  // Its 10 s to answer are not over.
  assert.equal(await isOk(gate), true)
  const begin = performance.now()
  await gate.server.close()
  assert.equal(performance.now() - begin < 9000, true)
})

test('retries of a batch have one id, though more has come meanwhile', async (t) => {
  let isMended = false
  const { url, received } = await receiver(t, () => (_, response) => response.writeHead(isMended ? 200 : 500).end())
  const gate = await startGate(t, { settings: webhookSettings(url) })
  const { stop } = await askedOf(gate)
  await stop()
  await until('it was sent', () => received.length > 0)
  await stop()
  await until('it was sent again', () => received.length > 1)
  isMended = true
  await until('it is mended', () => isOk(gate))
  const failed = received.map(({ headers }) => headers['webhook-id'])
  assert.equal(new Set(failed.slice(0, 3)).size, 1)
  await gate.server.close()
  assert.deepEqual([...new Set(posted(received))], await signed(gate.dir))
})

test('attempts that fail come further and further apart, and the last one when the service ends', async (t) => {
  let isMended = false
  const times: number[] = []
  const { url, received } = await receiver(t, () => {
    times.push(performance.now())
    return (_, response) => response.writeHead(isMended ? 200 : 503).end()
  })
  const gate = await startGate(t, { settings: webhookSettings(url) })
  const { stop } = await askedOf(gate)
  await stop()
  await until('it was sent four times', () => times.length > 3)
  const [first = 0, second = 0, third = 0, fourth = 0] = times
  assert.equal(second - first > 900 && third - second > 1900 && fourth - third > 3900, true, times.join())
  isMended = true
  // The next one is due in eight seconds.
  const begin = performance.now()
  await gate.server.close()
  assert.equal(performance.now() - begin < 6000, true)
  assert.deepEqual([...new Set(posted(received))], await signed(gate.dir))
})

test('two services on one data file leave no gap', async (t) => {
  const file = join(temporaryFolder(), 'anchors.jsonl')
  const settings = { anchorFile: file }
  const first = await startGate(t, { settings })
  const second = await startGate(t, { settings, dir: first.dir })
  const [one, other] = [await askedOf(first), await askedOf(second)]
  for (let n = 0; n < 4; n += 1) {
    await Promise.all([one.check(), other.check(), one.stop(), other.stop()])
    await sleep(700)
  }
  await Promise.all([first.server.close(), second.server.close()])
  const all = await signed(first.dir)
  assert.deepEqual([...new Set(anchored(file))].sort(), [...all].sort())
  const again = await startGate(t, { settings, dir: first.dir })
  assert.equal((await readiness(again)).status, 200)
})

test('a service that starts again goes on where it was', async (t) => {
  const { gate, file, check } = await anchoredGate(t)
  await check()
  await gate.server.close()
  const before = anchored(file)
  const again = await startGate(t, { dir: gate.dir, settings: { anchorFile: file } })
  const { check: checkAgain } = await askedOf(again)
  await checkAgain()
  await again.server.close()
  const all = await signed(gate.dir)
  assert.deepEqual(anchored(file), all)
  assert.equal(all.length > before.length, true)
})

const LOST: [name: string, lose: (file: string) => void][] = [
  ['was moved away', (file) => renameSync(file, `${file}.1`)],
  ['was emptied', (file) => writeFileSync(file, '')],
  ['was cut', (file) => writeFileSync(file, `${linesOf(file)[0]}\n`)],
  ['is that of an older backup', (file) => copyFileSync(`${file}.bak`, file)],
]
for (const [name, lose] of LOST) {
  test(`an anchor file that ${name} gets the newest anchor of each chain, and that is told`, async (t) => {
    const { gate, file, check, stop } = await anchoredGate(t)
    await stop()
    await until('it is anchored', () => anchored(file).length > 0)
    copyFileSync(file, `${file}.bak`)
    await check()
    await gate.server.close()
    const newest = new Map(anchored(file).map((one) => one.split(' ') as [string, string]))
    lose(file)
    const { log, lines } = keptLog()
    const again = await startGate(t, { dir: gate.dir, settings: { anchorFile: file }, log })
    await until('each is appended', () => {
      const found = new Map(anchored(file).map((one) => one.split(' ') as [string, string]))
      return [...newest].every(([chain, size]) => Number(found.get(chain)) >= Number(size))
    })
    assert.equal(lines.filter(({ msg }) => String(msg).startsWith('the anchor file lacks anchors')).length, 1)
    await again.server.close()
    assert.equal(readFileSync(file, 'utf8').endsWith('\n'), true)
  })
}

const SETTINGS: [name: string, settings: () => Record<string, string>, message: RegExp][] = [
  [
    'a webhook without a secret',
    () => ({ anchorUrl: 'http://127.0.0.1:9/' }),
    /anchorUrl and anchorSecret go together/,
  ],
  ['a secret without a webhook', () => ({ anchorSecret: 'x' }), /anchorUrl and anchorSecret go together/],
]
for (const [name, settings, message] of SETTINGS) {
  test(`it does not start with ${name}`, async (t) => {
    await assert.rejects(startGate(t, { settings: settings() }), message)
  })
}
