import type { RequestListener } from 'node:http'
import { once } from '../base/memo.ts'
import { ROUTES } from '../keys/routes.ts'
import { bodyBudget } from './body-budget.ts'
import { type Dispatcher, dispatch, requestIdOf } from './dispatch.ts'
import { writeError } from './errors.ts'
import { gateRoutes } from './gate/routes.ts'
import { rateLimiter } from './ratelimit.ts'
import { refusalLog } from './refusals.ts'
import type { Services } from './services.ts'
import { stallWatch } from './stalls.ts'

/** Creates the HTTP interface, with the refusals that it counts. */
export function createApp(services: Services, options: { direct: boolean } = { direct: true }) {
  const limiter = rateLimiter(() => performance.now(), services.sharers)
  const refusals = refusalLog(services)
  const dispatcher: Dispatcher = {
    services,
    limiter,
    bodies: bodyBudget(),
    refusals,
    stalls: stallWatch(services.stopping),
  }
  const { others, loadOthers } = otherRoutes(dispatcher)
  return { listener: options.direct ? direct(dispatcher, others) : others, loadOthers, refusals }
}

/** Routes the one hot path without Express, which costs more than deciding (docs/performance.md). */
function direct(dispatcher: Dispatcher, others: RequestListener): RequestListener {
  const { method, path } = ROUTES.check
  const check = { id: 'check', route: gateRoutes.check } as const
  return (request, response) => {
    if (request.url === path && request.method === method) void dispatch(dispatcher, check, {}, request, response)
    else others(request, response)
  }
}

/** Routes with Express, which the service loads when it listens: it is ready for checks sooner. */
function otherRoutes(dispatcher: Dispatcher): { others: RequestListener; loadOthers: () => Promise<RequestListener> } {
  const loadOthers = once(
    async (): Promise<RequestListener> => (await import('./express-app.ts')).expressApp(dispatcher),
  )
  let app: RequestListener | undefined
  const others: RequestListener = async (request, response) => {
    try {
      app ??= await loadOthers()
    } catch (error) {
      return writeError(response, error, requestIdOf(dispatcher, request), dispatcher.services)
    }
    app(request, response)
  }
  return { others, loadOthers }
}
