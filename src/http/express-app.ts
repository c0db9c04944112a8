import type { IncomingMessage, ServerResponse } from 'node:http'
import express, { type ErrorRequestHandler, type Express, type Request } from 'express'
import { GateError } from '../base/errors.ts'
import { assertHost } from '../base/host.ts'
import { type Facade, type KeyedRouteId, type PublicRouteId, ROUTES, type RouteRule } from '../keys/routes.ts'
import { assertFromHere } from './auth.ts'
import { addConsole } from './console.ts'
import { type Dispatcher, dispatch, type Identity, refusal, requestIdOf } from './dispatch.ts'
import { writeError } from './errors.ts'
import { HANDLERS, PUBLIC } from './handlers.ts'
import { originOf } from './origin.ts'
import { writeEnvelope, writeJson, writeText } from './reply.ts'

/** Text format of Prometheus, the only answer that is not JSON. */
const PLAIN = 'text/plain; version=0.0.4; charset=utf-8'

export function expressApp(dispatcher: Dispatcher): Express {
  const app = express()
  app.disable('x-powered-by').disable('etag')
  app.enable('strict routing').enable('case sensitive routing')
  app.set('query parser', false)
  addPublic(app, dispatcher)
  addConsole(app, dispatcher.services.allowedHosts)
  for (const id of Object.keys(HANDLERS) as KeyedRouteId[]) {
    const { method, path } = ROUTES[id]
    const handled = { id, route: HANDLERS[id] }
    const handler = (request: Request, response: ServerResponse): void =>
      void dispatch(dispatcher, handled, request.params as Record<string, string>, request, response)
    if (method === 'GET') app.get(path, handler)
    else if (method === 'POST') app.post(path, handler)
    else app.delete(path, handler)
  }
  addRefusals(app, dispatcher)
  // A stop may be the first thing that a busy service is asked.
  HANDLERS.trigger.prepare()
  return app
}

function addPublic(app: Express, dispatcher: Dispatcher): void {
  const { services } = dispatcher
  for (const id of Object.keys(PUBLIC) as PublicRouteId[]) {
    const { shape, answer } = PUBLIC[id]
    const rule: RouteRule = ROUTES[id]
    const { path, facade } = rule
    app.get(path, async (request: IncomingMessage, response: ServerResponse) => {
      const requestId = requestIdOf(dispatcher, request)
      const identity: Identity = { key: undefined, caller: undefined }
      try {
        assertHost(request.headers.host, services.allowedHosts)
        await assertFromHere(services, request, rule, identity)
        const data = await answer(services, originOf(request.headers))
        if (shape.bare === 'text/plain') writeText(response, 200, { type: PLAIN, text: String(data) }, requestId)
        else if (shape.bare) writeJson(response, 200, data, requestId)
        else writeEnvelope(response, 200, { success: true, data, requestId })
      } catch (error) {
        writeError(response, refusal(dispatcher, identity, error), requestId, services, facade)
      }
    })
  }
}

/** Refuses what no route takes: another method on a known path, an unknown path, a path that is not a URI. */
function addRefusals(app: Express, dispatcher: Dispatcher): void {
  const refuse = (request: Request, response: ServerResponse, error: unknown, facade?: Facade): void =>
    writeError(response, error, requestIdOf(dispatcher, request), dispatcher.services, facade)
  const rules: readonly RouteRule[] = Object.values(ROUTES)
  for (const { path, facade } of rules) {
    const Allow = rules.flatMap((rule) => (rule.path === path ? [rule.method] : [])).join(', ')
    // `app.all` would add a handler for each of thirty methods.
    app.route(path).all((request, response) => {
      const error = new GateError('method_not_allowed', `This path takes ${Allow}.`, { headers: { Allow } })
      refuse(request, response, error, facade)
    })
  }
  app.use(() => {
    throw new GateError('not_found', 'There is no such path.')
  })
  const onError: ErrorRequestHandler = (error, request, response, _next) => refuse(request, response, error)
  app.use(onError)
}
