import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Response } from 'playwright-core'
import { startBrowser } from '../browser.ts'
import { startGate } from '../helpers.ts'

const gate = await startGate({ after })
const browser = await startBrowser({ after })
const owner = await gate.key({ roles: ['owner'] })

/** Of all scripts of a first view, as they go over the wire when compressed. */
const MOST_KILOBYTES = 60
/** What it is meant to take, in a browser without a cache. Machines that run other tests beside it get five times as much. */
const MEANT_MS = 1000

/** Pages with what their first view ends with. */
const VIEWS = [
  ['approvals', 'Nothing waits for you'],
  ['overview', 'Decisions over time'],
  ['kill-switch', 'No stop is in force'],
] as const

for (const [place, text] of VIEWS) {
  test(`the first view of ${place} is there soon, by little script`, async (t) => {
    const { url } = (await gate.call(owner, 'POST', '/session/code')).body.data
    const begin = performance.now()
    const context = await browser.newContext()
    const page = await context.newPage()
    const responses: Response[] = []
    page.on('response', (response) => responses.push(response))
    await page.goto(`${gate.server.url}/console/${place}${new URL(url).hash}`)
    await page.getByText(text).first().waitFor()
    const tookMs = performance.now() - begin
    const scripts = responses.filter((response) => response.url().endsWith('.js'))
    const bodies = await Promise.all(scripts.map((script) => script.body()))
    const kilobytes = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0) / 1000
    await context.close()
    t.diagnostic(
      `${place}: ${kilobytes.toFixed(1)} kB of script in ${scripts.length} files, shown after ${tookMs.toFixed(0)} ms`,
    )
    assert.equal(scripts.length > 1, true)
    assert.equal(kilobytes < MOST_KILOBYTES, true, `${kilobytes} kB`)
    assert.equal(tookMs < 5 * MEANT_MS, true, `${tookMs} ms`)
  })
}
