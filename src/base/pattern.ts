import { RE2JS } from 're2js'
import { boundedCache } from './bounded-cache.ts'
import { lru } from './memo.ts'
import { type Automaton, automatonOf, END, type Program } from './pattern-automaton.ts'
import { WEIGHTS, type Work } from './work.ts'

export interface Pattern {
  /** Instructions of the compiled program, repetitions written out. */
  readonly size: number
  /** True when some part of the text matches; undefined when finding out takes more work than is left. */
  find(text: string, work: Work): boolean | undefined
}

/** Numbers that the states of a pattern may hold between two searches, and those of all: about 100 MB. */
const KEPT_OF_ONE = 200_000
const KEPT_OF_ALL = 4_000_000

/** States that were made, by program; those of the pattern whose states grew longest ago make room. */
const automata = boundedCache<{ automaton: Automaton; held: number }, Program>(KEPT_OF_ALL, ({ held }) => held)

/** Loading a policy set compiles each pattern several times: to check it, to lint it and to evaluate it. */
const compiled = lru(1000, (text: string): Pattern => {
  // Its own search has no limit, and without an automaton takes a thousand times as long.
  const re2 = RE2JS.compile(text).re2()
  const program: Program = re2.prog
  const newAutomaton = (): Automaton => automatonOf(program, re2.dfa)
  // The states of earlier comparisons serve this one, but count anew.
  const begin = (work: Work): Automaton => {
    const kept = automata.get(program)
    const automaton = kept === undefined || kept.automaton.held() > KEPT_OF_ONE ? newAutomaton() : kept.automaton
    automaton.beginComparison()
    const held = automaton.held()
    if (held !== kept?.held) automata.put(program, { automaton, held })
    work.prepared?.set(program, automaton)
    return automaton
  }
  return {
    size: program.numInst(),
    // Each program has its automaton prepared.
    find: (searched, work) =>
      search((work.prepared?.get(program) as Automaton | undefined) ?? begin(work), searched, work),
  }
})

/** Compiles an RE2 pattern; returns the fault when it does not compile. */
export function compilePattern(text: string): Pattern | { fault: string } {
  try {
    return compiled(text)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { fault: message.replace(/^error parsing regexp: /, '') }
  }
}

const MAX_LATIN1 = 0xff
const MAX_BMP = 0xffff

const { character, wideCharacter, patternStep, patternPlace } = WEIGHTS

/**
 * The work of a search is that of one for which no comparison before this one made any state: it depends on nothing but
 * the pattern, and the texts of the comparison.
 */
function search(automaton: Automaton, text: string, work: Work): boolean | undefined {
  // A text that is certainly too long costs nothing.
  if (text.length > work.left) return refused(work)
  const id = automaton.comparison()
  let state = automaton.start()
  let left = work.left
  let found = false
  for (let at = 0; at <= text.length && !found && left >= 0; at += 1) {
    const unit = text.charCodeAt(at)
    const isWide = !(unit <= MAX_LATIN1)
    // Past the end there is no unit.
    const rune = isWide ? (text.codePointAt(at) ?? END) : unit
    const kind = (isWide ? undefined : automaton.latin1[unit]) ?? automaton.classOf(rune)
    const step = state.steps[kind] ?? automaton.step(state, kind, rune)
    left -= isWide ? wideCharacter.units : character.units
    if (step.takenBy !== id) {
      step.takenBy = id
      left -= patternStep.units + patternPlace.units * (state.places.length + step.to.places.length)
    }
    state = step.to
    found = state.isMatch
    if (rune > MAX_BMP) at += 1
  }
  work.left = Math.max(0, left)
  return left < 0 ? refused(work) : found
}

function refused(work: Work): undefined {
  work.refused += 1
}
