import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { verifyEvidence } from '../../src/client/verify/verify.ts'
import type { Verification } from '../../src/evidence/checks.ts'
import { trustFile } from '../../src/evidence/trust.ts'
import { faultsOf, startBrowser } from '../browser.ts'
import { archive, envelopeFor } from '../evidence/bundles.ts'
import { mutations, type Value } from '../evidence/mutations.ts'
import { HANGS_MS } from '../until.ts'

/** The page, as somebody may serve it who wants to be sure that nothing leaves it. */
const FILES: Record<string, { type: string; text: string }> = {
  '/': {
    type: 'text/html',
    text: '<!doctype html><title>Verify</title><script type="module" src="/page.js"></script>',
  },
  '/page.js': {
    type: 'text/javascript',
    text: "import { verifyEvidence } from '/verify.js'\nglobalThis.verifyEvidence = verifyEvidence\n",
  },
  '/verify.js': {
    type: 'text/javascript',
    text: readFileSync(new URL('../../dist/client/verify.js', import.meta.url), 'utf8'),
  },
}

const server = createServer((request, response) => {
  const file = FILES[request.url ?? '']
  if (file === undefined) return response.writeHead(404).end()
  const policy = "default-src 'none'; script-src 'self'"
  return response.writeHead(200, { 'content-type': file.type, 'content-security-policy': policy }).end(file.text)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
after(() => void server.close())
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const { bundleOf, approved, decide, trust } = await archive()
const bundles = [await bundleOf(await decide(5)), await bundleOf(await approved('payment.refund', 50))]
const options = { trust: JSON.stringify(trustFile(trust)), nowMs: Date.now() }

const browser = await startBrowser({ after })
const page = await browser.newPage()
const faults = faultsOf(page, origin)
await page.goto(origin)

/** Returns the page's verification of each text. */
function inBrowser(texts: readonly string[], means: typeof options | Record<string, never> = options) {
  const call = `(${JSON.stringify(texts)}).map((text) => verifyEvidence(text, ${JSON.stringify(means)}))`
  return page.evaluate<Verification[]>(call)
}

test('good bundles and their envelopes are valid in a browser', async () => {
  const texts = bundles.flatMap((bundle) => [JSON.stringify(bundle), JSON.stringify(envelopeFor(bundle))])
  for (const { verdict, reasons } of await inBrowser(texts))
    assert.deepEqual({ verdict, reasons }, { verdict: 'valid', reasons: [] })
})

test('without a trust file they are not', async () => {
  const [found] = await inBrowser([JSON.stringify(bundles[0])], {})
  assert.equal(found?.verdict, 'incomplete')
})

test('whatever is changed of a bundle, a browser says of it what Node says, with the same reasons', async () => {
  for (const bundle of bundles) {
    const changed = [...mutations(bundle as unknown as Value)].filter((_, i) => i % 9 === 0)
    assert.equal(changed.length > 50, true)
    const texts = changed.map(({ value }) => JSON.stringify(value))
    for (const [i, found] of (await inBrowser(texts)).entries())
      assert.deepEqual(found, verifyEvidence(texts[i] ?? '', options), changed[i]?.name)
  }
})

test('members that occur twice are no bundle, though parsing would hide them', async () => {
  const text = JSON.stringify(bundles[0]).replace('"version":"1.0"', '"version":"1.0","version":"1.0"')
  const [found] = await inBrowser([text])
  assert.equal(found?.verdict, 'invalid')
})

test('a trust file that is none is refused as such', async () => {
  const call = `try { verifyEvidence('{}', { trust: '{}' }) } catch (error) { error.name }`
  assert.equal(await page.evaluate(call), 'UnusableTrust')
})

test('the page breaks no policy, writes no error, and asks nobody else', () => assert.deepEqual(faults, []))

// The watch itself: what each of these does is seen.
const bad: [what: string, code: string, fault: RegExp][] = [
  ['asks another server', "fetch('https://example.invalid/').catch(() => 0)", /^error: .*Content Security Policy/],
  ['runs text', "document.body.innerHTML = '<img src=x onerror=alert(1)>'; 0", /^error: .*Content Security Policy/],
  ['writes an error', "console.error('oh'); 0", /^error: oh$/],
  ['throws', "setTimeout(() => { throw new Error('oh') }); 0", /^thrown: oh$/],
  ['goes elsewhere', "location.href = 'http://127.0.0.1:9/'; 0", /^elsewhere: http:\/\/127.0.0.1:9\/$/],
]
for (const [what, code, fault] of bad) {
  test(`a page that ${what} is found`, async () => {
    const other = await browser.newPage()
    const found = faultsOf(other, origin)
    await other.goto(origin)
    await other.evaluate(code)
    const deadline = Date.now() + HANGS_MS
    while (!found.some((text) => fault.test(text)) && Date.now() < deadline) await other.waitForTimeout(20)
    assert.match(found.find((text) => fault.test(text)) ?? found.join('\n'), fault)
    await other.close()
  })
}
