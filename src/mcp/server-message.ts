import { isJsonObject, type Json, type JsonObject, parseJson } from '../base/json.ts'
import { ENVELOPE } from './ambiguous.ts'
import { type Id, isId } from './message.ts'

/** Text of a message for the client, and its numbers for the check of what the model reads. */
interface Passed {
  /** The message as it was read, on one line. */
  text: string
  /** Numbers whose text differs from what JavaScript would write. */
  numbers: readonly string[]
}

export type ServerMessage =
  /** The id is null in an error that answers no particular request. */
  | ({ kind: 'answer'; id: Id | null; result: JsonObject | undefined; error: Json | undefined } & Passed)
  /** Request of the server, or notification. */
  | ({ kind: 'other'; method: string; params: Json | undefined } & Passed)
  /** Dropped. `ids` are those of the requests that it may answer. */
  | { kind: 'unreadable'; why: string; ids: readonly Id[] }

/** Limits of results: programs write larger ones than models do, and numbers that JavaScript lacks. */
const LIMITS = { maxDepth: 512, maxValues: 2_000_000 }
/** Characters at both ends of an unreadable message that are searched for its id. */
const SEARCH_LENGTH = 1024

/**
 * Reads a message of a server as strictly as those of clients. Where two parsers differ, the client could see something
 * that the relay has not watched.
 */
export function readServerMessage(source: string): ServerMessage {
  const numbers: string[] = []
  let message: Json
  try {
    message = parseJson(source, { ...LIMITS, onInexact: (token) => void numbers.push(token) })
  } catch (error) {
    return unreadable(error instanceof Error ? error.message : String(error), idsIn(source))
  }
  if (!isJsonObject(message)) return unreadable('It is not an object.', idsIn(source))
  const { id, method, params, result, error } = message
  const answered = isId(id) ? [id] : []
  const stranger = Object.keys(message).find((name) => !ENVELOPE.includes(name))
  if (stranger !== undefined) return unreadable(`${stranger} is not a member of a message.`, answered)
  if (message.jsonrpc !== '2.0') return unreadable('It is not of JSON-RPC 2.0.', answered)
  const passed: Passed = { text: oneLine(source), numbers }
  if ('method' in message) {
    if (typeof method !== 'string') return unreadable('Its method is not a text.', answered)
    if ('result' in message || 'error' in message) return unreadable('It asks and answers at once.', answered)
    return { kind: 'other', method, params, ...passed }
  }
  if ('result' in message === 'error' in message) return unreadable('It neither asks nor answers.', answered)
  if ('error' in message && (id === undefined || id === null))
    return { kind: 'answer', id: null, result: undefined, error, ...passed }
  if (!isId(id)) return unreadable('It answers nothing.', answered)
  if ('result' in message && !isJsonObject(result)) return unreadable('Its result is not an object.', answered)
  return { kind: 'answer', id, result: isJsonObject(result) ? result : undefined, error, ...passed }
}

function unreadable(why: string, ids: readonly Id[]): ServerMessage {
  return { kind: 'unreadable', why, ids }
}

/** Possible ids in a text that is meant as a message. */
function idsIn(source: string): Id[] {
  if (!source.startsWith('{')) return []
  const searched = `${source.slice(0, SEARCH_LENGTH)}\n${source.slice(SEARCH_LENGTH).slice(-SEARCH_LENGTH)}`
  return Array.from(searched.matchAll(/"id"\s*:\s*(?:(\d{1,15})\b|"([^"\\]{1,100})")/g), ([, number, text]) =>
    number === undefined ? (text ?? '') : Number(number),
  )
}

/**
 * Puts strictly read JSON on one line for all readers of lines. Line feeds and carriage returns can only stand between
 * its values, other line separators only within texts.
 */
function oneLine(json: string): string {
  return json
    .replace(/[\r\n]/g, ' ')
    .replace(/[\u007f-\u009f\u2028\u2029]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
