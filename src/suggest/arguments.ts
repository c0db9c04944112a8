import { isJsonObject, type Json } from '../base/json.ts'
import { isScalar, type Scalar } from '../policies/operators.ts'
import { factPath } from '../policies/path.ts'
import type { Recorded } from '../replay/recorded.ts'

/** Limits of the arguments of one request that are looked at, and of their paths. */
const MAX_ARGUMENTS = 32
const MAX_PATH = 200
const MAX_DEPTH = 4
/** Characters of a text that may be one of a few values; of a longer one it is only known that it is there. */
const MAX_TEXT = 64

/** Stands for a value that is never one of a few: a long text, a list, or what lies too deep. */
export const LONG = Symbol('long')

/** Arguments of a request by path, such as `context.amount`. Undefined where it has too many, or too long paths. */
export type Arguments = ReadonlyMap<string, Scalar | typeof LONG>

export function argumentsOf({ context, plan }: NonNullable<Recorded['asked']>): Arguments | undefined {
  const found = new Map<string, Scalar | typeof LONG>()
  let isWhole = true
  const walk = (value: Json, root: string, segments: readonly string[]): void => {
    if (value === null || found.size > MAX_ARGUMENTS) return
    if (isJsonObject(value) && segments.length < MAX_DEPTH) {
      for (const [name, inner] of Object.entries(value)) walk(inner, root, [...segments, name])
      return
    }
    const isShort = isScalar(value) && (typeof value !== 'string' || value.length <= MAX_TEXT)
    const { text } = factPath(root, segments)
    isWhole &&= text.length <= MAX_PATH
    found.set(text, isShort ? value : LONG)
  }
  walk(context ?? null, 'context', [])
  walk(plan ?? null, 'plan', [])
  return isWhole && found.size <= MAX_ARGUMENTS ? found : undefined
}
