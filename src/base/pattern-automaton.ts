/** The part of re2js that is used: the program that it makes of a pattern, which its types leave out. */
export interface Program {
  readonly start: number
  numInst(): number
  getInst(at: number): Instruction
}
interface Instruction {
  readonly op: number
  readonly out: number
  readonly arg: number
  matchRune(rune: number): boolean
}

/** Runes that every instruction treats alike are one class. */
interface Classes {
  readonly numClasses: number
  /** Classes of the runes up to U+00FF. */
  readonly latin1Class: Int32Array
  runeClass(rune: number): number
}

/** Input that leads from one state to another. */
interface Step {
  readonly to: State
  /** Number of the comparison that took it last. */
  takenBy: number
}

/** Operations of instructions; those from `rune` to `lastRune` read one. */
const OP = { alt: 1, altMatch: 2, capture: 3, emptyWidth: 4, match: 6, nop: 7, rune: 8, lastRune: 11 } as const
/** Assertions that an instruction without width may make about its place in the text. */
const AT = { lineBegin: 1, lineEnd: 2, textBegin: 4, textEnd: 8, wordBoundary: 16, noWordBoundary: 32 } as const

/** Stands for the end of the text in place of a rune. */
export const END = -1
const NEW_LINE = 10

/** Numbers that a state holds beside its places and steps, about, and those of a step. */
const STATE_NUMBERS = 40
const STEP_NUMBERS = 4

/** Instructions at which a search may be, closed under those that read nothing. */
interface Closure {
  /** Those that read a rune, ask something of their place, or end a match. */
  readonly places: readonly number[]
  /** Assertions of the places about their place in the text. */
  readonly asked: number
  /** Equal sets have equal keys. */
  readonly key: string
}

/** Knowledge after some text, beside the instructions. */
interface Known {
  readonly known: number
  readonly afterWord: boolean
  /** True when a match ended before the last rune. */
  readonly isMatch: boolean
}

/** Where a search is after some text; what cannot be told apart by what follows is one state. */
export interface State extends Known {
  readonly places: readonly number[]
  readonly asked: number
  /** By class of the next rune; that of the end of the text is the last. */
  readonly steps: (Step | undefined)[]
}

export type Automaton = ReturnType<typeof automatonOf>

/**
 * The deterministic automaton of a program, with its states made as texts lead to them. As RE2 has it, what an
 * instruction asks of its place is decided when the next rune is known, so that a match is seen one rune late.
 */
export function automatonOf(program: Program, classes: Classes) {
  const instructions = Array.from({ length: program.numInst() }, (_, at) => program.getInst(at))
  const close = closer(instructions)
  const states = new Map<string, State>()
  let first: State | undefined
  let held = 0
  let comparisons = 0

  const stateOf = ({ places, asked, key }: Closure, before: Known): State => {
    // Facts that nothing asks for need not be kept apart.
    const known = asked === 0 ? 0 : before.known
    const afterWord = asked !== 0 && before.afterWord
    const { isMatch } = before
    const name = key + String.fromCharCode(known * 4 + (afterWord ? 2 : 0) + (isMatch ? 1 : 0))
    const same = states.get(name)
    if (same !== undefined) return same
    const steps = new Array<Step | undefined>(classes.numClasses + 1)
    const made = { places, asked, known, afterWord, isMatch, steps }
    states.set(name, made)
    held += places.length + steps.length + STATE_NUMBERS
    return made
  }
  return {
    latin1: classes.latin1Class,
    classOf: (rune: number): number => (rune === END ? classes.numClasses : classes.runeClass(rune)),
    beginComparison(): void {
      comparisons += 1
    },
    /** The number of the comparison that has begun last. */
    comparison: (): number => comparisons,
    /** The state before a text. */
    start(): State {
      first ??= stateOf(close([program.start], TEXT_BEGIN.known), TEXT_BEGIN)
      return first
    },
    step(state: State, kind: number, rune: number): Step {
      const { now, next } = around(state, rune)
      const isDecided = (now & ~state.known & state.asked) !== 0
      const places = isDecided ? close(state.places, now).places : state.places
      const reached: number[] = []
      let isMatch = false
      for (const place of places) {
        const instruction = instructions[place]
        if (instruction === undefined) continue
        if (instruction.op === OP.match) isMatch = true
        else if (rune !== END && instruction.op >= OP.rune && instruction.matchRune(rune)) reached.push(instruction.out)
      }
      if (rune !== END) reached.push(program.start)
      const made = { to: stateOf(close(reached, next), { known: next, afterWord: isWord(rune), isMatch }), takenBy: 0 }
      state.steps[kind] = made
      held += STEP_NUMBERS
      return made
    },
    /** The numbers that the states hold, about. */
    held: () => held,
  }
}

const TEXT_BEGIN: Known = { known: AT.textBegin | AT.lineBegin, afterWord: false, isMatch: false }

/** Facts between the last rune and this one, and facts that the rune makes true after it. */
function around({ known, afterWord }: State, rune: number): { now: number; next: number } {
  const before = known | (isWord(rune) === afterWord ? AT.noWordBoundary : AT.wordBoundary)
  if (rune === END) return { now: before | AT.lineEnd | AT.textEnd, next: 0 }
  return rune === NEW_LINE ? { now: before | AT.lineEnd, next: AT.lineBegin } : { now: before, next: 0 }
}

function isWord(rune: number): boolean {
  return (rune >= 97 && rune <= 122) || (rune >= 65 && rune <= 90) || (rune >= 48 && rune <= 57) || rune === 95
}

/** Closes a set under the instructions that read nothing and whose conditions are `known` to hold. */
function closer(instructions: readonly Instruction[]): (from: readonly number[], known: number) => Closure {
  // Plain numbers, since this is most of what a step costs.
  const ops = Uint8Array.from(instructions, ({ op }) => op)
  const outs = Int32Array.from(instructions, ({ out }) => out)
  const args = Int32Array.from(instructions, ({ arg }) => arg)
  const words: number[] = new Array(Math.ceil(instructions.length / 16)).fill(0)
  const stack: number[] = []
  return (from, known) => {
    words.fill(0)
    const places: number[] = []
    let asked = 0
    for (const first of from) {
      stack.push(first)
      for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
        const word = words[at >> 4] ?? 0
        const bit = 1 << (at & 15)
        if ((word & bit) !== 0) continue
        words[at >> 4] = word | bit
        const op = ops[at] ?? 0
        const out = outs[at] ?? 0
        const arg = args[at] ?? 0
        if (op <= OP.altMatch) stack.push(out, arg)
        else if (op === OP.nop || op === OP.capture) stack.push(out)
        else places.push(at)
        if (op !== OP.emptyWidth) continue
        asked |= arg
        if ((arg & ~known) === 0) stack.push(out)
      }
    }
    return { places, asked, key: String.fromCharCode(...words) }
  }
}
