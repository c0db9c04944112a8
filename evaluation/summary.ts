import { type Line, table } from '../src/cli/output.ts'
import type { Corpus, Session } from './corpus.ts'
import { type Decisions, type Grouping, groupsOf, type Rates, ratesOf, type Score, scoreOf } from './score.ts'

type Scored = Score & { rates: Rates }

/** The file of `--json`: numbers and rates of all sessions, of each group, and of the whole sets by source. */
export function scoresOf({ sessions }: Corpus, decisions: Decisions) {
  const scored = (of: readonly Session[]): Scored => {
    const score = scoreOf(of, decisions)
    return { ...score, rates: ratesOf(score) }
  }
  const by = (grouping: Grouping, of = sessions): Record<string, Scored> =>
    Object.fromEntries([...groupsOf(of, grouping)].map(([name, group]) => [name, scored(group)]))
  const full = sessions.filter(({ set }) => set === 'full')
  return {
    all: scored(sessions),
    source: by('source'),
    suite: by('suite'),
    set: by('set'),
    slice: by('slice'),
    full: by('source', full),
  }
}

/** Output of a run on the terminal: each source, and the whole set of each, which compares with published rates. */
export function summary(corpus: Corpus, decisions: Decisions): Line[] {
  const { source, full } = scoresOf(corpus, decisions)
  const rows = Object.entries(source).flatMap(([name, score]) => {
    const whole = full[name]
    const isMore = whole !== undefined && sizeOf(whole) < sizeOf(score)
    return [rowOf(name, score), ...(isMore ? [rowOf('  whole set', whole)] : [])]
  })
  const header = [
    'SOURCE',
    'ATTACKED',
    'ATTACK SUCCESS',
    'DENIALS ALONE',
    'CLEAN',
    'INTERRUPTED',
    'UTILITY',
    'GRANTED',
    'REFUSED',
  ]
  return table(header, rows)
}

const sizeOf = ({ attacked, clean }: Score): number => attacked.sessions + clean.sessions
const rate = (value: number | undefined): string => (value === undefined ? '-' : `${value.toFixed(2)} %`)

function rowOf(name: string, { attacked, clean, rates }: Scored): string[] {
  const { attackSuccessBefore, attackSuccess, attackSuccessGranted } = rates
  const success = attackSuccessBefore === undefined ? '-' : `${rate(attackSuccessBefore)} → ${rate(attackSuccess)}`
  return [
    ...[name, String(attacked.sessions), success, rate(attackSuccessGranted), String(clean.sessions)],
    ...[rates.interrupted, rates.utilityBefore, rates.utilityGranted, rates.utilityRefused].map(rate),
  ]
}
