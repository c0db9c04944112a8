import { type ApiRoute, apiRoutes, cursorIn, namedSchemas, type Schema } from './api-routes.ts'
import {
  broken,
  declare,
  declarePage,
  docstring,
  HEAD,
  noTypes,
  type PythonTypes,
  snake,
  typeOf,
  typingImport,
  WIDTH,
} from './python-types.ts'

/**
 * Writes the parts that the Python client shares with the service from the OpenAPI document, for Python 3.9, into
 * python/gate_sidecar/client: types.py has the types of every request and answer with the table of routes, and
 * _endpoints.py the endpoints as methods.
 */

/**
 * Endpoints in the groups of the client, by the names of routes; those of no group are methods of the client itself.
 * Streams have no plain answer: `events` is written by hand, and `auditVerifyLive` only adds the progress to a call of
 * `verify`.
 */
const GROUPS: Record<string, Record<string, string>> = {
  '': { risk: 'risk', outcome: 'outcome' },
  approvals: {
    ...{ list: 'listApprovals', get: 'getApproval', background: 'approvalBackground' },
    ...{ approve: 'approve', reject: 'reject', cancel: 'cancelApproval' },
  },
  audit: { chain: 'auditChain', verify: 'auditVerify', log: 'auditLog' },
  decisions: { list: 'listDecisions', get: 'getDecision', timeline: 'decisionTimeline' },
  evidence: { bundle: 'exportBundle', policy_change: 'exportPolicyChange', verify: 'verifyBundle' },
  kill_switch: {
    status: 'killSwitchStatus',
    history: 'killSwitchHistory',
    preview: 'previewStop',
    trigger: 'trigger',
    recover: 'recover',
  },
  keys: { list: 'listKeys', create: 'createKey', rotate: 'rotateKey', revoke: 'revokeKey' },
  policies: {
    list: 'listPolicies',
    validate: 'validatePolicies',
    reload: 'reloadPolicies',
    source: 'policySource',
    shadow: 'shadowPolicies',
    dry_run: 'dryRun',
  },
  replays: {
    begin: 'replayPolicies',
    get: 'getReplay',
    changes: 'replayChanges',
    cancel: 'cancelReplay',
    seal: 'sealReplay',
  },
  sessions: { current: 'getSession', sign_in_link: 'signInCode' },
  service: {
    overview: 'overview',
    usage: 'usage',
    health: 'healthz',
    readiness: 'readyz',
    metrics: 'metrics',
    open_api: 'openapi',
  },
}

/** The text of python/gate_sidecar/client/types.py. */
export function pythonApi(): string {
  const types = noTypes()
  const routes = apiRoutes()
  const cursors = routes.filter(({ form }) => form === 'cursor').map(({ data }) => nameIn(data))
  for (const [name, schema] of namedSchemas()) if (!cursors.includes(name)) declare(types, name, schema)
  for (const route of routes.filter(isPaged)) {
    const { items, cursor } = cursorIn(route.data) ?? { items: route.data, cursor: undefined }
    declarePage(types, pageName(route), items, cursor)
  }
  const exported = [...types.names].sort()
  const text = [
    `__all__ = [\n${exported.map((name) => `    "${name}",\n`).join('')}]\n\n`,
    types.texts.map((text) => `${text}\n\n`).join('\n'),
    'class Route(NamedTuple):',
    '    """Call of a route."""\n',
    '    method: str',
    '    path: str',
    '    repeat: Literal["with_key", "as_is", "never"]',
    '    """May the request be sent again: under its Idempotency-Key, as it is, or not at all."""',
    '    form: Literal["object", "list", "page", "cursor", "json", "text"]',
    '    """Form of the answer: `data` in an envelope, or alone."""\n\n',
    'ROUTES: Final[Mapping[str, Route]] = {',
    ...routes.map(
      ({ id, method, path, repeat, form }) => `    "${id}": Route("${method}", "${path}", "${repeat}", "${form}"),`,
    ),
    '}\n',
  ].join('\n')
  const about = '"""Types of every request and answer, and the table of routes."""'
  return [`${HEAD}${about}\n`, 'from __future__ import annotations\n', `${typingImport(text)}\n`, text].join('\n')
}

/** The text of python/gate_sidecar/client/_endpoints.py. */
export function pythonEndpoints(): string {
  const routes = new Map(apiRoutes().map((route) => [route.id, route]))
  const classes = [false, true].flatMap((isAsync) =>
    Object.entries(GROUPS)
      .sort(([a], [b]) => (a === '' ? 1 : b === '' ? -1 : 0))
      .map(([group, methods]) => groupClass(group, methods, routes, isAsync)),
  )
  const text = classes.join('\n\n')
  return [
    `${HEAD}"""The endpoints as methods, for \`GateClient\` and for \`AsyncGateClient\`."""\n`,
    'from __future__ import annotations\n',
    `${typingImport(text)}\n`,
    `from .types import (\n${usedNames(text)
      .map((name) => `    ${name},\n`)
      .join('')})\n\n`,
    text,
  ].join('\n')
}

/** Names of shapes that stand in a text outside of its docstrings. */
function usedNames(text: string): string[] {
  const pages = apiRoutes().filter(isPaged)
  const code = text.replace(/""".*?"""/gs, '')
  return [...namedSchemas().map(([name]) => name), ...pages.map(pageName)]
    .filter((name) => new RegExp(`\\b${name}\\b`).test(code))
    .sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
}

function groupClass(
  group: string,
  methods: Record<string, string>,
  routes: ReadonlyMap<string, ApiRoute>,
  isAsync: boolean,
): string {
  const prefix = isAsync ? 'Async' : ''
  const groups = Object.keys(GROUPS).filter((name) => name !== '')
  const result = isAsync ? 'Awaitable[Any]' : 'Any'
  const about = group === '' ? 'Every endpoint with a plain answer.' : `Endpoints under \`${group}\` of a client.`
  return [
    `class ${prefix}${pascal(group)}Endpoints:`,
    `    """${about}"""\n`,
    `    def __init__(self, call: Callable[..., ${result}]) -> None:`,
    '        self._call = call',
    ...(group === '' ? groups.map((one) => `        self.${one} = ${prefix}${pascal(one)}Endpoints(call)`) : []),
    '',
    Object.entries(methods)
      .map(([method, id]) => methodText(method, routes.get(id) as ApiRoute, isAsync))
      .join('\n\n'),
    '',
  ].join('\n')
}

function methodText(name: string, route: ApiRoute, isAsync: boolean): string {
  const { id, summary, params, query, repeat } = route
  const types = noTypes()
  const body = bodyOf(route, types)
  // Waiting is a method of its own, with a timeout of its own.
  const asked = query.filter((one) => one.name !== 'wait')
  const options = asked.map((one) => `${snake(one.name)}: Optional[${typeOf(one.schema, '', types)}] = None`)
  if (repeat === 'with_key') options.push('idempotency_key: Optional[str] = None')
  const taken = ['self', ...params.map((one) => `${one}: str`), ...body.taken, ...(options.length > 0 ? ['*'] : [])]
  const answer = isPaged(route) ? pageName(route) : typeOf(route.data, '', types)
  const given = [
    `"${id}"`,
    ...(params.length > 0 ? [`params={${params.map((one) => `"${one}": ${one}`).join(', ')}}`] : []),
    ...(asked.length > 0 ? [`query={${asked.map((one) => `"${one.name}": ${snake(one.name)}`).join(', ')}}`] : []),
    ...body.given,
    ...(repeat === 'with_key' ? ['idempotency_key=idempotency_key'] : []),
  ]
  return [
    call(`    ${isAsync ? 'async ' : ''}def ${name}(`, [...taken, ...options], `) -> ${answer}:`),
    docstring(asked.length > 0 ? [summary, '', ...asked.map(queryLine)].join('\n') : summary, '        '),
    call(`        answer = ${isAsync ? 'await ' : ''}self._call(`, given, ')'),
    `        return cast(${answer}, answer)`,
  ].join('\n')
}

/** Parameters for a body: its only member if it is required and has one, none if it has no members, else the whole. */
function bodyOf({ body, needsBody }: ApiRoute, types: PythonTypes): { taken: string[]; given: string[] } {
  if (body === undefined) return { taken: [], given: [] }
  const type = typeOf(body, '', types)
  const schema = namedSchemas().find(([name]) => name === type)?.[1]
  const members = Object.keys(schema?.properties ?? {}).filter((name) => name !== 'tenantId')
  if (members.length === 0) return { taken: [], given: ['body={}'] }
  if (!needsBody) return { taken: [`request: Optional[${type}] = None`], given: ['body=request or {}'] }
  const [name = ''] = members
  if (members.length === 1) return { taken: [`${name}: Mapping[str, Any]`], given: [`body={"${name}": ${name}}`] }
  return { taken: [`request: ${type}`], given: ['body=request'] }
}

const queryLine = ({ name, description }: { name: string; description: string }): string =>
  `- \`${snake(name)}\`: ${description}`

/** A call or definition, with a line for each argument where it is too long for one. */
function call(start: string, args: readonly string[], end: string): string {
  const line = `${start}${args.join(', ')}${end}`
  if (line.length <= WIDTH) return line
  const indent = /^ */.exec(start)?.[0] ?? ''
  const lines = args.map((one) => shortened(`${indent}    ${one},`, `${indent}    `))
  return [start, ...lines, `${indent}${end}`].join('\n')
}

/** An argument with a line for each of its literals, or of its members. */
function shortened(line: string, indent: string): string {
  if (line.length <= WIDTH) return line
  const short = broken(line, indent)
  return short.replace(/^( *\w+=\{)(.*)(?=\},$)/, (_, start: string, members: string) =>
    [start, ...members.split(', ').map((one) => `${indent}    ${one},`), indent].join('\n'),
  )
}

const isPaged = ({ form }: ApiRoute): boolean => form === 'page' || form === 'cursor'

/** Name of the shape that a schema refers to. */
const nameIn = ({ $ref }: Schema): string => String($ref).split('/').at(-1) ?? ''

const pageName = ({ data, form }: ApiRoute): string =>
  form === 'cursor' ? nameIn(data).replace(/List$/, 'Page') : `${nameIn(data.items as Schema)}Page`

const pascal = (name: string): string => name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
