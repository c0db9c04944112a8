import { readFileSync } from 'node:fs'

/** One change of the deciding code, which tests must notice. Paths are relative to the repository. */
export interface Mutant {
  name: string
  /** Promise of the code that the change breaks. */
  promise: string
  file: string
  /** Stands exactly once in the file. */
  from: string
  to: string
  /** At least one of these files must fail. */
  tests: readonly string[]
}

export const MUTANTS: readonly Mutant[] = JSON.parse(readFileSync(new URL('mutants.json', import.meta.url), 'utf8'))

/** The text of the file with the change. @throws Error when what it changes does not stand there exactly once */
export function mutated(text: string, { name, file, from, to }: Mutant): string {
  const [before, after, ...more] = text.split(from)
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${name}: what it replaces must stand exactly once in ${file}.`)
  return before + to + after
}
