import { isJsonObject, type Json, type JsonObject, parseJson } from '../base/json.ts'
import { ENVELOPE } from './ambiguous.ts'
import { type Id, isId } from './message.ts'

/** What a client gets of a message, and what a model can read in it. */
interface Passed {
  /** What was read, on one line. */
  text: string
  /** Its numbers that are written otherwise than JavaScript would write them. */
  numbers: readonly string[]
}

/** What a server sent. */
export type ServerMessage =
  /** The id is null in an error that answers nothing in particular. */
  | ({ kind: 'answer'; id: Id | null; result: JsonObject | undefined; error: Json | undefined } & Passed)
  /** A request of the server, or a notification. */
  | ({ kind: 'other'; method: string; params: Json | undefined } & Passed)
  /** It goes nowhere. `ids` are those that it may be the answer to. */
  | { kind: 'unreadable'; why: string; ids: readonly Id[] }

/** Results are made by programs: they are larger than what a model writes, and have numbers that JavaScript does not. */
const LIMITS = { maxDepth: 512, maxValues: 2_000_000 }
/** So far from its begin and its end a message is searched for its id, when it cannot be read. */
const SEARCHED = 1024

/**
 * Reads a message of a server as strictly as those of clients: of what two parsers could read as two things, the client could see what
 * nobody has watched.
 */
export function readServerMessage(source: string): ServerMessage {
  const numbers: string[] = []
  let message: Json
  try {
    message = parseJson(source, { ...LIMITS, onInexact: (token) => void numbers.push(token) })
  } catch (error) {
    return unreadable(error instanceof Error ? error.message : String(error), idsIn(source))
  }
  if (!isJsonObject(message)) return unreadable('It is no object.', idsIn(source))
  const { id, method, params, result, error } = message
  const answered = isId(id) ? [id] : []
  const stranger = Object.keys(message).find((name) => !ENVELOPE.includes(name))
  if (stranger !== undefined) return unreadable(`${stranger} is no member of a message.`, answered)
  if (message.jsonrpc !== '2.0') return unreadable('It is not of JSON-RPC 2.0.', answered)
  const passed: Passed = { text: oneLine(source), numbers }
  if ('method' in message) {
    if (typeof method !== 'string') return unreadable('Its method is no text.', answered)
    if ('result' in message || 'error' in message) return unreadable('It asks and answers at once.', answered)
    return { kind: 'other', method, params, ...passed }
  }
  if ('result' in message === 'error' in message) return unreadable('It neither asks nor answers.', answered)
  if ('error' in message && (id === undefined || id === null))
    return { kind: 'answer', id: null, result: undefined, error, ...passed }
  if (!isId(id)) return unreadable('It answers nothing.', answered)
  if ('result' in message && !isJsonObject(result)) return unreadable('Its result is no object.', answered)
  return { kind: 'answer', id, result: isJsonObject(result) ? result : undefined, error, ...passed }
}

function unreadable(why: string, ids: readonly Id[]): ServerMessage {
  return { kind: 'unreadable', why, ids }
}

/** What a text that is meant as a message may have as its id. */
function idsIn(source: string): Id[] {
  if (!source.startsWith('{')) return []
  const searched = `${source.slice(0, SEARCHED)}\n${source.slice(SEARCHED).slice(-SEARCHED)}`
  return Array.from(searched.matchAll(/"id"\s*:\s*(?:(\d{1,15})\b|"([^"\\]{1,100})")/g), ([, number, text]) =>
    number === undefined ? (text ?? '') : Number(number),
  )
}

/**
 * JSON that was read strictly, on one line to every reader of lines. Line feeds and carriage returns can only stand between its
 * values, what else ends lines only within texts.
 */
function oneLine(json: string): string {
  return json
    .replace(/[\r\n]/g, ' ')
    .replace(/[\u007f-\u009f\u2028\u2029]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
