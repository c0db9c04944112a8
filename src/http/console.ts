import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import express, { type Express } from 'express'
import helmet from 'helmet'
import { GateError } from '../base/errors.ts'
import { assertHost } from '../base/host.ts'
import { CONSOLE_PATH } from '../keys/console-routes.ts'
import { ROOT } from '../version.ts'

/** Build of src/console: a page, and files named after their content. */
const BUILT = fileURLToPath(new URL('dist/console/', ROOT))

/**
 * Lets the page run only its own files. With Trusted Types nothing in it becomes script or markup, not even by mistake.
 * Nobody can frame it, and it neither loads from elsewhere nor sends anything there.
 */
const secure = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      'default-src': ["'none'"],
      'script-src': ["'self'"],
      'style-src': ["'self'"],
      'connect-src': ["'self'"],
      'img-src': ["'self'"],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
      'require-trusted-types-for': ["'script'"],
      'trusted-types': ["'none'"],
    },
  },
  referrerPolicy: { policy: 'no-referrer' },
  // The TLS proxy decides whether this host requires TLS.
  strictTransportSecurity: false,
  xFrameOptions: { action: 'deny' },
})

/**
 * Serves the web console: its files, and its page for every address below CONSOLE_PATH, which the page itself reads.
 * A browser that opens the address of the service alone is sent there; every other client gets the answer of any unknown path.
 */
export function addConsole(app: Express, allowedHosts: readonly string[]): void {
  app.get('/', (request, response, next) => {
    if (request.accepts(['json', 'html']) !== 'html') return next()
    assertHost(request.headers.host, allowedHosts)
    response.writeHead(302, { Location: `${CONSOLE_PATH}/`, 'Cache-Control': 'no-store', Vary: 'Accept' }).end()
  })
  app.use(CONSOLE_PATH, (request, _response, next) => {
    assertHost(request.headers.host, allowedHosts)
    next()
  })
  app.use(CONSOLE_PATH, secure)
  app.use(
    `${CONSOLE_PATH}/assets`,
    express.static(`${BUILT}assets`, { immutable: true, maxAge: '1y', index: false, redirect: false }),
    () => {
      throw new GateError('not_found', 'There is no such file.')
    },
  )
  const page = readFileSync(`${BUILT}index.html`, 'utf8')
  app.get([CONSOLE_PATH, `${CONSOLE_PATH}/*path`, `${CONSOLE_PATH}/`], (_request, response) => {
    response.set({ 'Cache-Control': 'no-cache', 'Content-Type': 'text/html; charset=utf-8' }).send(page)
  })
}
