import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import express, { type Express } from 'express'
import helmet from 'helmet'
import { GateError } from '../base/errors.ts'
import { assertHost } from '../base/host.ts'
import { CONSOLE_PATH } from '../keys/console-routes.ts'

/** What the build made of src/console: a page, and files whose names change with what is in them. */
const BUILT = fileURLToPath(new URL('../../dist/console/', import.meta.url))

/**
 * The page runs nothing but its own files, and nothing in it becomes script or markup: with Trusted Types, not even by mistake.
 * Nobody frames it, it loads nothing from elsewhere, and sends nothing there.
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
  // Whether this host is reached by TLS at all is the business of what ends it.
  strictTransportSecurity: false,
  xFrameOptions: { action: 'deny' },
})

/** Serves the web console: its files, and its page for every address below CONSOLE_PATH, which the page reads by itself. */
export function addConsole(app: Express, allowedHosts: readonly string[]): void {
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
