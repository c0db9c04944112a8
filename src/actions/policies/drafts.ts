import * as Type from '#typebox'
import { insidePath, isPolicyFile, isTestFile, type PolicySource } from '../../authoring/load/files.ts'
import { takeTurns } from '../../base/concurrency.ts'
import { type ErrorDetail, GateError } from '../../base/errors.ts'
import { closed } from '../../gate/request.ts'

/** Limit of files, and of lists, in one request. */
const MAX_FILES = 1000
/** Characters of a name, as file systems limit it. A path may have several names. */
const MAX_NAME = 255
const MAX_PATH = 1024

/** Policy texts in a request. */
export const DraftFields = {
  files: Type.Array(
    closed('PolicyFile', {
      name: Type.String({ maxLength: MAX_NAME, description: 'As in the folder of the tenant: `main.yaml`.' }),
      text: Type.String({ description: 'The content of the file.' }),
    }),
    { maxItems: MAX_FILES, description: 'Policies and tests, in any order.' },
  ),
  lists: Type.Optional(
    Type.Array(
      closed('PolicyList', {
        path: Type.String({ maxLength: MAX_PATH, description: 'As a policy writes it: `lists/sanctioned.txt`.' }),
        text: Type.String({ description: 'The content of the list file.' }),
      }),
      { maxItems: MAX_FILES, description: 'The list files that the policies name.' },
    ),
  ),
}

const Draft = Type.Object(DraftFields)
export type Draft = Type.Static<typeof Draft>

/** Drafts worked on at once: each takes a thread. A tenant has one of them at a time, and tenants take turns. */
const AT_ONCE = 2
/** Drafts of a tenant that wait, beside the one that is worked on. Each holds its texts in memory. */
const MAX_WAITING = 4
/** Time limit for waiting: twice what a draft may take. */
const WAIT_LIMIT_MS = 40_000

/** Runs the work on a tenant's draft. @throws GateError `overloaded` when too many wait, or wait too long */
export type OnDraft = <T>(tenantId: string, work: () => Promise<T>) => Promise<T>

export function draftRoom(waitLimitMs = WAIT_LIMIT_MS): OnDraft {
  const turns = takeTurns(AT_ONCE)
  return async (tenantId, work) => {
    if (turns.waitingOf(tenantId) >= MAX_WAITING)
      throw new GateError('overloaded', 'Too many drafts of this tenant are waiting; try again.')
    const late = new AbortController()
    const timer = setTimeout(() => {
      late.abort(new GateError('overloaded', 'Too many drafts are being processed; try again.'))
    }, waitLimitMs)
    const begun = async () => {
      clearTimeout(timer)
      return work()
    }
    try {
      return await turns.run(tenantId, begun, late.signal)
    } finally {
      clearTimeout(timer)
    }
  }
}

/** @throws GateError `invalid_request` for a name that no folder could have */
export function draftSource(tenant: string, { files, lists = [] }: Draft): PolicySource {
  const names = files.map(({ name }) => name)
  const paths = lists.map(({ path }) => path)
  const details = [
    ...detailsOf('files', 'name', names, fileNameFault),
    ...detailsOf('lists', 'path', paths, (path) => (isListPath(path) ? undefined : 'leaves the folder of the tenant')),
  ]
  if (details.length > 0)
    throw new GateError('invalid_request', 'A file has a name that no file of the tenant can have.', { details })
  const encoder = new TextEncoder()
  return {
    tenant,
    files: files.map(({ name, text }) => ({ name, bytes: encoder.encode(text) })),
    lists: new Map(lists.map(({ path, text }) => [path, encoder.encode(text)])),
    ignored: [],
  }
}

function detailsOf(
  list: string,
  member: string,
  names: readonly string[],
  faultOf: (name: string) => string | undefined,
): ErrorDetail[] {
  const seen = new Set<string>()
  return names.flatMap((name, i) => {
    const message = faultOf(name) ?? (seen.has(name) ? 'comes twice' : undefined)
    seen.add(name)
    return message === undefined ? [] : [{ path: `/${list}/${i}/${member}`, message }]
  })
}

function fileNameFault(name: string): string | undefined {
  if (/[/\\]/.test(name)) return 'is a path; give the name in the folder'
  if (/\p{Cc}/u.test(name)) return 'has a control character'
  if (name.startsWith('.')) return 'is hidden, and would not be read'
  return isPolicyFile(name) || isTestFile(name) ? undefined : 'does not end in .yaml, .yml or .json'
}

function isListPath(path: string): boolean {
  return (insidePath(path) ?? '') !== '' && !/\p{Cc}/u.test(path)
}
