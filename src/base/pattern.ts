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
  const newAutomaton = (): Automaton =>
    automatonOf(program, { numClasses: re2.dfa.numClasses, runeClass: (rune) => re2.dfa.runeClass(rune) })
  return {
    size: program.numInst(),
    find(searched, work) {
      const kept = automata.get(program)
      const automaton = kept?.automaton ?? newAutomaton()
      const found = search(automaton, searched, work)
      const held = automaton.held()
      if (held > KEPT_OF_ONE) automata.forget(program)
      else if (held !== kept?.held) automata.put(program, { automaton, held })
      return found
    },
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

const { character, wideCharacter, patternStep, patternPlace } = WEIGHTS

/**
 * The work of a search is that of one for which no state was made before: it depends on nothing but pattern and text.
 */
function search(automaton: Automaton, text: string, work: Work): boolean | undefined {
  // A text that is certainly too long costs nothing.
  if (text.length > work.left) return refused(work)
  const { id, start } = automaton.begin()
  let state = start
  let left = work.left
  let found = false
  for (let at = 0; at <= text.length && !found && left >= 0; ) {
    const rune = text.codePointAt(at) ?? END
    const kind = automaton.classOf(rune)
    const next = state.next[kind] ?? automaton.step(state, kind, rune)
    left -= rune > 0xff ? wideCharacter.units : character.units
    if (state.takenBy[kind] !== id) {
      state.takenBy[kind] = id
      left -= patternStep.units + patternPlace.units * (state.places.length + next.places.length)
    }
    found = next.isMatch
    state = next
    at += rune > 0xffff ? 2 : 1
  }
  work.left = Math.max(0, left)
  return left < 0 ? refused(work) : found
}

function refused(work: Work): undefined {
  work.refused += 1
}
