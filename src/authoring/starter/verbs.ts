import type { NamedTool } from './list.ts'

/** Guessed effect of a tool's calls, by its name and its own hints. */
export type Kind = 'reading' | 'destructive' | 'other'

export interface Guess {
  kind: Kind
  /** Reason, which ends the comment beside the action. */
  why: string
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '))

const READING = set('get list read search find show view describe lookup count')
/** Verbs that need a person's approval wherever they stand in a name. */
const DESTRUCTIVE = set(
  'delete del rm drop remove transfer send pay destroy erase purge wipe truncate kill terminate shutdown revoke cancel refund withdraw wire uninstall unlink',
)
/** Verbs of change, with the same effect in any place; `and` and `or` join a second verb. */
const CHANGING = set(
  'create insert upsert write modify replace rename execute exec run invoke deploy install publish upload merge execute grant enable disable overwrite and or then',
)
/** Verbs that are as often nouns: they count only at the beginning of a name. */
const LEADING = set(
  'add update set edit change move copy put post push pull commit fork apply start stop restart reset mark archive assign invite share approve reject accept confirm submit book reserve schedule reschedule subscribe register login logout connect upgrade import export download save store append clear close open lock unlock reply forward draft sync trigger toggle block mute follow like rate review request manage handle order buy sell call browse fetch query check generate make use ask play go unfollow unblock unsubscribe unmute unarchive mark tag label log report issue complete finish pause resume sign swap trade stake mint borrow lend deposit',
)

/** Guesses for all tools of a list at once: a beginning that several names share is their service, and the verb follows it. */
export function guesser(tools: readonly NamedTool[]): (tool: NamedTool) => Guess {
  const shared = new Map<string, number>()
  for (const { action } of tools) {
    for (const prefix of prefixesOf(wordsOf(lastPart(action)))) shared.set(prefix, (shared.get(prefix) ?? 0) + 1)
  }
  return (tool) => {
    const words = wordsOf(tool.action)
    const destructive = words.find((word) => DESTRUCTIVE.has(word))
    const changing = words.find((word) => CHANGING.has(word))
    const verb = leadingVerb(wordsOf(lastPart(tool.action)), shared)
    if (tool.destructive && !tool.readOnly) return { kind: 'destructive', why: 'it says destructiveHint' }
    if (tool.readOnly) return readOnlyGuess(tool, destructive ?? changing)
    if (destructive !== undefined) return { kind: 'destructive', why: `its name says ${destructive}` }
    if (tool.readOnly === false) return { kind: 'other', why: 'it says that it does more than read' }
    if (changing !== undefined) return { kind: 'other', why: `its name says ${changing}` }
    if (verb !== undefined && READING.has(verb)) return { kind: 'reading', why: `its name says ${verb}` }
    return { kind: 'other', why: 'nothing says that it only reads' }
  }
}

/** Ignores a hint that the tool's own name or hints contradict. */
function readOnlyGuess({ destructive }: NamedTool, contradiction: string | undefined): Guess {
  if (destructive) return { kind: 'destructive', why: 'it says both readOnlyHint and destructiveHint' }
  if (contradiction === undefined) return { kind: 'reading', why: 'it says readOnlyHint' }
  return { kind: 'other', why: `it says readOnlyHint, but its name says ${contradiction}` }
}

/** The first word that is not the name of a service, with which several tools begin. */
function leadingVerb(words: readonly string[], shared: ReadonlyMap<string, number>): string | undefined {
  const prefixes = prefixesOf(words)
  return words.find((word, i) => isVerb(word) || (shared.get(prefixes[i] ?? '') ?? 0) < 2)
}

export function isVerb(word: string): boolean {
  return [READING, DESTRUCTIVE, CHANGING, LEADING].some((verbs) => verbs.has(word))
}

function prefixesOf(words: readonly string[]): string[] {
  return words.map((_, i) => words.slice(0, i + 1).join(' '))
}

/** `transfer` of `payment.transfer`, `search_issues` of `mcp__github__search_issues`. */
function lastPart(action: string): string {
  return action.split(/[.:/]|__/).findLast((part) => part !== '') ?? action
}

/** `gmail`, `read`, `email` of `GmailReadEmail` and of `gmail_read_email`. */
function wordsOf(name: string): string[] {
  const words = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g) ?? []
  return words.map((word) => word.toLowerCase())
}
