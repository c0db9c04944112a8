import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Response } from 'playwright-core'
import { startGate } from '../helpers.ts'
import { browser } from './shared-browser.ts'

const gate = await startGate({ after })
const owner = await gate.key({ roles: ['owner'] })

/** Limit for all scripts of a first view, as they go over the wire when compressed. */
const MOST_KILOBYTES = 60

/** Pages with what their first view ends with. */
const VIEWS = [
  ['approvals', 'No approvals are waiting'],
  ['overview', 'Decisions over time'],
  ['kill-switch', 'No stop is in force'],
] as const

for (const [place, text] of VIEWS) {
  test(`the first view of ${place} takes little script`, async (t) => {
    const { url } = (await gate.call(owner, 'POST', '/session/code')).body.data
    const context = await browser.newContext()
    const page = await context.newPage()
    const responses: Response[] = []
    page.on('response', (response) => responses.push(response))
    await page.goto(`${gate.server.url}/console/${place}${new URL(url).hash}`)
    await page.getByText(text).first().waitFor()
    const scripts = responses.filter((response) => response.url().endsWith('.js'))
    const bodies = await Promise.all(scripts.map((script) => script.body()))
    const kilobytes = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0) / 1000
    await context.close()
    t.diagnostic(`${place}: ${kilobytes.toFixed(1)} kB of script in ${scripts.length} files`)
    assert.equal(scripts.length > 1, true)
    assert.equal(kilobytes < MOST_KILOBYTES, true, `${kilobytes} kB`)
  })
}
