import { openApiDocument } from '../src/http/handlers.ts'
import { ROUTES, type RouteId } from '../src/keys/routes.ts'

interface Keys {
  owner: string
  agent: string
}

interface Violation {
  location: string[]
  severity: string
  code: string | number
  message: string
}

const TIMEOUT_MS = 10_000
const TENANT = 'acme'
const HELD = { amount: 25, country: 'DE', iban: 'DE02100500000054540402' }
const document = openApiDocument() as { paths: Record<string, Record<string, Operation>> }

interface Operation {
  requestBody?: { content: { 'application/json': { example: object } } }
}

/** Bodies by which each route that takes one is refused. */
const BAD_BODIES: readonly unknown[] = [{}, { unknown: 1 }, [], null, { action: 1, reason: 2, data: 3 }]

/** Sends each request that the document gives an example of, with real ids, and each kind of bad one. */
export async function scene(url: string, keys: Keys) {
  const findings: string[] = []
  let requests = 0

  const send = async (id: RouteId, ids: string, body?: unknown, headers: Record<string, string> = {}) => {
    const { method, path } = ROUTES[id]
    const response = await fetch(url + path.replace(':id', ids), {
      method,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        'x-api-key': keys.owner,
        'x-tenant-id': TENANT,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    requests += 1
    const violations: Violation[] = JSON.parse(response.headers.get('sl-violations') ?? '[]')
    // Leaves out violations of requests, which are bad on purpose.
    for (const { location, message } of violations.filter((violation) => violation.location[0] === 'response'))
      findings.push(`${method} ${path} ${response.status}: ${location.join('.')} ${message}`)
    const isJson = response.headers.get('content-type')?.includes('json')
    // Common shape of the answers whose data is read here.
    return (isJson ? await response.json() : {}) as { data: Record<string, string> }
  }

  const hold = async (amount: number) => {
    const body = { tenantId: TENANT, action: 'payment.transfer', context: { ...HELD, amount } }
    const { data } = await send('check', '', body, { 'x-api-key': keys.agent })
    return { approval: data.approvalId ?? '', decision: data.decisionId ?? '' }
  }

  const [first, second] = [await hold(25), await hold(26)]
  const key = (await send('createKey', '', { roles: ['approver'], identity: 'ann', groups: ['treasury'] })).data
  const ids: Partial<Record<RouteId, string>> = {
    getApproval: first.approval,
    approve: first.approval,
    reject: second.approval,
    accessRequest: first.approval,
    exportBundle: first.decision,
    revokeKey: key.id ?? '',
  }
  const bundle = (await send('exportBundle', first.decision)).data
  const bodies: Partial<Record<RouteId, object>> = { verifyBundle: { bundle } }
  for (const id of Object.keys(ROUTES) as RouteId[]) {
    // A stream has no end that Prism could wait for.
    if (id === 'events') continue
    const { method, path } = ROUTES[id]
    const example = document.paths[path.replace(':id', '{id}')]?.[method.toLowerCase()]?.requestBody
    const body = bodies[id] ?? example?.content['application/json'].example
    const voter: Record<string, string> = id === 'approve' || id === 'reject' ? { 'x-api-key': key.key ?? '' } : {}
    await send(id, ids[id] ?? '', body, voter)
    // Repeats a request that has been done already, or cannot be.
    await send(id, ids[id] ?? '', body, { ...voter, 'idempotency-key': 'one' })
    await send(id, 'nobody', body)
    await send(id, ids[id] ?? '', body, { 'x-api-key': 'sk_live_none' })
    await send(id, ids[id] ?? '', body, { 'x-tenant-id': 'other' })
    await send(id, ids[id] ?? '', body, { 'x-api-key': keys.agent })
    if (body !== undefined) for (const bad of BAD_BODIES) await send(id, ids[id] ?? '', bad)
    if (body !== undefined) await send(id, ids[id] ?? '', body, { 'content-type': 'text/plain' })
  }
  return { requests, findings }
}
