import type { Json } from '../base/json.ts'
import type { DiagnosticCode } from './codes.ts'
import type { Truth } from './set.ts'

/** One comparison with its constant compiled in. `seen` is a value, never missing and never null. */
export type Test = (seen: Json) => Truth

/** Why a constant does not suit its operator. `item` is the position in a list, when one item is at fault. */
export interface ValueFault {
  code: DiagnosticCode
  message: string
  item?: number | undefined
  suggestion?: Json | undefined
}

export interface Compiled {
  test: Test
  /** What is doubtful about the constant, but can be meant. */
  doubts?: readonly ValueFault[]
}

export type CompileResult = Compiled | { faults: readonly ValueFault[] }

export function unsuitable(operator: { name: string }, wanted: string, suggestion?: Json): { faults: [ValueFault] } {
  return fault({ code: 'GATE1301', message: `${operator.name} needs ${wanted}.`, suggestion })
}

export function fault(one: ValueFault): { faults: [ValueFault] } {
  return { faults: [one] }
}

export const truth = (holds: boolean): Truth => (holds ? 'true' : 'false')
