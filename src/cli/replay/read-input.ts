import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inTrailOrder } from '../../audit/chain.ts'
import { canonicalJson } from '../../base/canonical.ts'
import { GateError } from '../../base/errors.ts'
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts'
import { ENTRIES_FILE, type EntryLine, EntryLineShape, laneFolder, MANIFEST_FILE } from '../../evidence/export.ts'
import { linesOf, readExport } from '../../files/export-folder.ts'
import { type CorpusCall, isCall, isSession, requestOf } from '../../replay/corpus.ts'
import { type Found, formOf, INPUTS, type InputForm, recorder } from '../../replay/inputs.ts'
import { type Recorded, recordedIn } from '../../replay/recorded.ts'
import type { Unread } from '../../replay/shown.ts'
import { CannotRun, type CommonOptions } from '../context.ts'

/** Limits of a record, and of a file that is one array. */
const MAX_DEPTH = 64
const MAX_ARRAY_BYTES = 256 * 1024 * 1024

/** Requests to be decided again, in their order. */
export interface Input {
  /** Time from which on all requests are there; `-Infinity` where nothing says that there were others before. */
  fromMs: number
  requests: AsyncIterable<Recorded>
  unread: Unread
}

/**
 * The requests of a tenant in a file of records, in stdin (`-`), in a corpus, or in an export of the trail.
 *
 * @throws CannotRun for a path without any
 */
export async function inputOf(path: string, tenant: string, io: CommonOptions['io']): Promise<Input> {
  const unread: Unread = { count: 0, first: '' }
  if (path !== '-' && !existsSync(path)) throw new CannotRun(`There is no file or folder ${path}.`)
  if (path !== '-' && statSync(path).isDirectory()) {
    if (existsSync(join(path, MANIFEST_FILE))) return exportInput(path, unread)
    if (existsSync(join(path, 'calls.jsonl'))) return input(corpusCalls(path, tenant), path, unread)
    throw new CannotRun(`${path} has neither ${MANIFEST_FILE} of an export nor calls.jsonl of a corpus.`)
  }
  return input(ofTenant(records(path, io, unread), tenant), path, unread)
}

type Placed = { found: Found; place: string }

function input(found: AsyncIterable<Placed>, source: string, unread: Unread): Input {
  const record = recorder(source, Date.now())
  async function* requests(): AsyncGenerator<Recorded> {
    for await (const one of found) yield record(one.found, one.place)
  }
  return { fromMs: Number.NEGATIVE_INFINITY, requests: requests(), unread }
}

/** Requests of the tenant, and those that name none. */
async function* ofTenant(all: AsyncIterable<Placed>, tenant: string): AsyncGenerator<Placed> {
  for await (const one of all) if (one.found.tenant === undefined || one.found.tenant === tenant) yield one
}

/** The requests of a file of records, whose form the first record shows. */
async function* records(path: string, io: CommonOptions['io'], unread: Unread): AsyncGenerator<Placed> {
  let form: InputForm | undefined
  const chunks: AsyncIterable<string | Buffer> = path === '-' ? io.stdin : createReadStream(path)
  for await (const { value, place, fault } of jsonRecords(path, chunks)) {
    form ??= value && formOf(value)
    const found = value && form && INPUTS[form].read(value)
    if (found === undefined) note(unread, `${place}: ${fault ?? `is not a record of ${namesOf(form)}`}`)
    for (const one of found ?? []) yield { found: one, place }
  }
  if (form === undefined) throw new CannotRun(`${path} has no request: ${unread.first || 'it is empty'}.`)
}

function namesOf(form: InputForm | undefined): string {
  return form === undefined
    ? Object.values(INPUTS)
        .map(({ name }) => name)
        .join(', or ')
    : INPUTS[form].name
}

function note(unread: Unread, what: string): void {
  if (unread.count === 0) unread.first = what
  unread.count += 1
}

interface JsonRecord {
  value: JsonObject | undefined
  place: string
  fault?: string
}

/** The objects of a file: one a line, or the items of one array, as OPA sends them. */
async function* jsonRecords(path: string, chunks: AsyncIterable<string | Buffer>): AsyncGenerator<JsonRecord> {
  let at = 0
  for await (const line of linesOf(chunks)) {
    at += 1
    if (at === 1 && line[0] === OPENING && path !== '-') return yield* arrayItems(path)
    if (line.byteLength > 0) yield recordIn(line, `${path}:${at}`)
  }
}

const OPENING = '['.charCodeAt(0)

function* arrayItems(path: string): Generator<JsonRecord> {
  if (statSync(path).size > MAX_ARRAY_BYTES)
    throw new CannotRun(`${path} is an array of more than ${MAX_ARRAY_BYTES} bytes; write one record a line.`)
  const { value, fault } = jsonIn(readFileSync(path))
  if (!Array.isArray(value)) throw new CannotRun(`${path} cannot be read: ${fault}`)
  for (const [i, item] of value.entries())
    yield { value: isJsonObject(item) ? item : undefined, place: `${path}[${i}]` }
}

function recordIn(bytes: Uint8Array, place: string): JsonRecord {
  const { value, fault } = jsonIn(bytes)
  return { value: isJsonObject(value) ? value : undefined, place, ...(fault !== undefined && { fault }) }
}

function jsonIn(bytes: Uint8Array): { value?: Json; fault?: string } {
  try {
    return { value: parseJson(bytes, { maxDepth: MAX_DEPTH }) }
  } catch (error) {
    if (error instanceof GateError) return { fault: error.message }
    throw error
  }
}

/** The calls of a corpus about this source, by session and in its order. */
async function* corpusCalls(folder: string, tenant: string): AsyncGenerator<Placed> {
  const linesIn = async (name: string): Promise<JsonObject[]> => {
    const found: JsonObject[] = []
    const path = join(folder, name)
    for await (const { value, place, fault } of jsonRecords(path, createReadStream(path))) {
      if (value === undefined) throw new CannotRun(`${place}: ${fault ?? 'is not an object'}`)
      found.push(value)
    }
    return found
  }
  const heads = await linesIn('sessions.jsonl')
  const sessions = new Map(heads.filter(isSession).map((head) => [head.session, { head, calls: [] as CorpusCall[] }]))
  for (const call of await linesIn('calls.jsonl')) if (isCall(call)) sessions.get(call.session)?.calls.push(call)
  for (const { head, calls } of sessions.values()) {
    if (head.source !== tenant) continue
    const prior: string[] = []
    for (const call of calls.sort((a, b) => a.order - b.order)) {
      const { action, context } = requestOf(head, call, prior)
      const asked = { context: JSON.parse(JSON.stringify(context)), plan: undefined }
      yield { found: { action, id: call.id, asked }, place: call.id }
      prior.push(action)
    }
  }
}

/** The decisions of an exported trail, with its lanes. `evidence verify` says whether they are what was signed. */
async function exportInput(folder: string, unread: Unread): Promise<Input> {
  const source = readExport(folder)
  const { lanes = {} } = JSON.parse(Buffer.from(source.manifest).toString()) as { lanes?: Record<string, string> }
  const folders = [folder, ...Object.keys(lanes).map((number) => join(folder, laneFolder(number)))]
  const entries: Recorded[] = []
  let fromMs = Number.NEGATIVE_INFINITY
  for (const one of folders) {
    const path = join(one, ENTRIES_FILE)
    let isFirst = true
    for await (const { value, place } of jsonRecords(path, createReadStream(path))) {
      const line = EntryLineShape.fault(value, '') === undefined ? (value as EntryLine) : undefined
      if (isFirst && line !== undefined && line.header.seq > 0)
        fromMs = Math.max(fromMs, Date.parse(line.header.ts) + 1)
      isFirst = false
      const isDecision = line?.header.type === 'gate.decision'
      const decision = isDecision ? recordedLine(line) : undefined
      if (decision !== undefined) entries.push(decision)
      else if (line === undefined || isDecision) note(unread, `${place}: is not an entry of the trail`)
    }
  }
  const placeOf = ({ chain, seq, tsMs }: Recorded) => ({ chain, seq, ts: new Date(tsMs).toISOString() })
  entries.sort((a, b) => inTrailOrder(placeOf(a), placeOf(b)))
  async function* requests(): AsyncGenerator<Recorded> {
    yield* entries
  }
  return { fromMs, requests: requests(), unread }
}

/** Undefined for an entry that this program cannot have made. */
function recordedLine({ header, sections }: EntryLine): Recorded | undefined {
  const textOf = (name: string): string | undefined =>
    sections[name] === undefined ? undefined : canonicalJson(sections[name].value as Json)
  const { chain, seq, ts } = header
  const [decision = '{}', grounds = '{}', risk = '{}'] = ['decision', 'grounds', 'risk'].map(textOf)
  const place = { chain, seq, tsMs: Date.parse(ts) }
  try {
    return recordedIn({ ...place, decision, grounds, risk, request: textOf('request'), approval: undefined })
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}
