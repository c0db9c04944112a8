import { CommanderError } from 'commander'
import { type ErrorCode, GateError } from '../base/errors.ts'
import { KEY_VARIABLE } from '../base/variables.ts'
import { visible } from '../base/visible.ts'
import { ConfigError } from '../service/config.ts'
import { inSource } from '../stack.ts'
import { EXIT, UsageError } from './context.ts'

interface Failure {
  exitCode: number
  /** Undefined when the user has seen the message already. */
  message: string | undefined
}

/** Message and exit code for an error. Only faults of our own show a stack. */
export function failureOf(error: unknown): Failure {
  // Commander has printed its message, or the requested help.
  if (error instanceof CommanderError)
    return { exitCode: error.exitCode === 0 ? EXIT.ok : EXIT.usage, message: undefined }
  if (error instanceof UsageError || error instanceof ConfigError)
    return { exitCode: EXIT.usage, message: error.message }
  if (error instanceof GateError) return refusal(error)
  return { exitCode: EXIT.failed, message: sentenceOf(error) }
}

/** Messages may quote text of others, such as the reason of a stop; that stays on one line. */
function refusal({ code, message, cause }: GateError): Failure {
  const text = visible(message)
  if (code === 'invalid_request') return { exitCode: EXIT.usage, message: asOption(text) }
  // The words of the database are for the host alone: HTTP answers without them.
  const words = code === 'audit_unavailable' && cause instanceof Error ? visible(cause.message) : undefined
  const next = words === undefined ? NEXT[code] : `It said: ${words.replace(/^\w*error: |\.$/gi, '')}.`
  return { exitCode: EXIT.failed, message: next === undefined ? text : `${text} ${next}` }
}

/** Advice for refusals whose message, shared with HTTP, names no commands. */
const NEXT: Partial<Record<ErrorCode, string>> = {
  unauthenticated: `The key came from --key or ${KEY_VARIABLE}; \`gate-sidecar keys list\` shows which keys are active.`,
  kill_switch_inactive: 'See `gate-sidecar killswitch status`.',
}

/** Options for members of a request, where the names differ. */
const OPTION_OF: Record<string, string> = {
  triggeredBy: 'by',
  recoveredBy: 'by',
  groups: 'group',
  roles: 'role',
  eventType: 'type',
  // --data is the folder of the data file, in every command.
  data: 'event-data',
  startDate: 'from',
  endDate: 'to',
}

/** A message about a request, such as `/expiresAt must be …` or `endDate lies before startDate`, with options in place of members. */
function asOption(message: string): string {
  const names = /^\/(\w+)(?:\/\d+)*|^[a-z]+[A-Z]\w*|(?<=^\w+ lies before )\w+/g
  return message.replace(names, (word: string, member: string | undefined) => {
    const name = member ?? word
    const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    return `--${OPTION_OF[name] ?? kebab}`
  })
}

type SystemError = NodeJS.ErrnoException & { address?: string; port?: number }

function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && 'syscall' in error && 'code' in error
}

function sentenceOf(error: unknown): string {
  if (isSystemError(error)) return error.syscall === 'listen' ? listenSentence(error) : fileSentence(error)
  if (!(error instanceof Error)) return String(error)
  const isOurs = error.name === 'Error' || error.name === 'TypeError' || error.name === 'RangeError'
  if (isOurs) return inSource(error.stack ?? error.message)
  return error.name === 'SqliteError'
    ? `The data file cannot be used: ${error.message}. Check the disk, and that this user may write the data folder.`
    : error.message
}

function listenSentence({ code, address, port }: SystemError): string {
  // A Unix socket has a path as its address, and no port.
  const where = address?.startsWith('/') ? address : `${address}:${port}`
  const why: Record<string, string> = {
    EADDRINUSE: 'another process listens there. Stop it, or choose another --port or --socket.',
    EADDRNOTAVAIL: 'this machine has no such address. Choose another --host.',
    EACCES:
      'this user lacks the permission. Choose a port from 1024 up, or a socket in a folder that this user may write.',
    ENOTFOUND: 'the name is unknown. Choose another --host.',
  }
  return `Cannot listen on ${where}: ${why[code ?? ''] ?? `${code}.`}`
}

function fileSentence({ code, path, message }: SystemError): string {
  const why: Record<string, string> = {
    EACCES: 'this user may not read or write it.',
    EPERM: 'this user may not read or write it.',
    EROFS: 'it is on a read-only file system.',
    ENOSPC: 'the disk is full.',
    ENOTDIR: 'a part of the path is not a folder.',
    EEXIST: 'it is not a folder.',
    EISDIR: 'it is a folder.',
    ENOENT: 'it does not exist.',
  }
  return path === undefined ? `${message}.` : `${path} cannot be used: ${why[code ?? ''] ?? `${code}.`}`
}
