import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { after, test } from 'node:test'
import { plainFetch } from '../declared.ts'
import { startGate } from '../helpers.ts'
import { browser } from './shared-browser.ts'
import { linkOf, navigation, signInWith } from './sign-in-support.ts'
import { addressOf, assertSound, openConsole, openPage } from './support.ts'

const gate = await startGate({ after })
const owner = await gate.key({ roles: ['owner'], identity: 'olga' })

/** All that a page can keep, as text. */
const KEPT = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'

/** Script that makes a page take a text for markup, and returns the result or the error. */
const MAKE_MARKUP = `(() => {
  try {
    document.body.innerHTML = '<img src=x onerror=alert(1)>'
    return 'done'
  } catch (error) {
    return String(error)
  }
})()`

test('a key signs in, and signs out again; it is kept nowhere', async () => {
  const opened = await openPage(browser, gate, '/console/')
  const { page } = opened
  await page.getByLabel('API key').waitFor()
  await assertSound(opened)
  await signInWith(page, owner.secret)
  await navigation(page).waitFor()
  await assertSound(opened)
  const kept = await page.evaluate<string>(KEPT)
  assert.equal(kept.includes(owner.secret), false)
  await page.locator('.account summary').click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You are signed out.').waitFor()
  await page.reload()
  await page.getByLabel('API key').waitFor()
})

test('where a key would go over the network as plain text, none is asked for', async () => {
  const context = await browser.newContext()
  const page = await context.newPage()
  // Browsers report this for a page that came by http from another machine.
  await page.addInitScript("Object.defineProperty(window, 'isSecureContext', { value: false })")
  await page.goto(`${gate.server.url}/console/`)
  await page.getByText('This page came from another machine without TLS').waitFor()
  assert.equal(await page.getByLabel('API key').count(), 0)
})

test('a link signs in at the page that it names, and is gone from the address', async () => {
  const link = await linkOf(gate, owner)
  const opened = await openPage(browser, gate, link.replace('/console/', '/console/kill-switch?level=L1'))
  await opened.page.getByRole('heading', { name: 'Kill switch', level: 1 }).waitFor()
  assert.equal((await addressOf(opened.page)).href, `${gate.server.url}/console/@acme/kill-switch?level=L1`)
  const again = await openPage(browser, gate, link)
  await again.page.getByText('This sign-in link was already used or has expired').waitFor()
  assert.deepEqual(opened.faults, [])
})

test('a browser that has the cookie alone is not signed in', async () => {
  const { page } = await openConsole(browser, gate, owner)
  const context = page.context()
  await page.close()
  const other = await context.newPage()
  await other.goto(`${gate.server.url}/console/`)
  await other.getByLabel('API key').waitFor()
})

test('when the key ends, the page asks to sign in, and goes on where it was', async () => {
  const key = await gate.key({ roles: ['operator'] })
  const { page } = await openConsole(browser, gate, key, 'policies')
  await gate.call(owner, 'DELETE', `/keys/${key.id}`)
  await page.reload()
  await page.getByLabel('API key').waitFor()
  await signInWith(page, owner.secret)
  await page.getByRole('heading', { name: 'Policies', level: 1 }).waitFor()
})

test('the page may load and send nothing elsewhere, and runs no text', async () => {
  const { headers } = await plainFetch(`${gate.server.url}/console/`)
  const policy = headers.get('content-security-policy') ?? ''
  for (const directive of [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ])
    assert.equal(policy.split(';').includes(directive), true, directive)
  assert.equal(headers.get('x-frame-options'), 'DENY')
  assert.equal(headers.get('referrer-policy'), 'no-referrer')
  assert.equal(headers.get('cache-control'), 'no-cache')
  const { page } = await openConsole(browser, gate, owner)
  const tried = await page.evaluate<string>(MAKE_MARKUP)
  assert.match(tried, /TrustedHTML/)
})

test('a page of another name that leads here gets no console', async () => {
  // `fetch` does not let its caller say which host it means.
  const sent = request(`${gate.server.url}/console/`, { headers: { host: 'evil.example' } }).end()
  const [response] = await once(sent, 'response')
  assert.equal(response.statusCode, 421)
})

test('files of the console are kept for ever, and others are not there', async () => {
  const html = await (await plainFetch(`${gate.server.url}/console/`)).text()
  const script = /src="(\/console\/assets\/main-[^"]+\.js)"/.exec(html)?.[1] ?? ''
  const file = await plainFetch(gate.server.url + script)
  assert.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  assert.match(file.headers.get('content-type') ?? '', /^text\/javascript/)
  for (const path of [
    'assets/nothing.js',
    'assets/../index.html',
    'assets/%2e%2e/index.html',
    'assets/%2e%2e%2f%2e%2e%2findex.js',
  ])
    assert.equal(
      (await plainFetch(`${gate.server.url}/console/${path}`)).headers.get('cache-control')?.includes('immutable'),
      false,
      path,
    )
})
