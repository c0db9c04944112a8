import fc from 'fast-check'

/** Inserted texts: signs that mean something to YAML, and some that it cannot hold. */
const INSERTED = [
  ...['', ':', '- ', '{', '}', '[', ']', '"', "'", '\n', '  ', ' ', '\t', ', ', '\n\n', '\r\n'],
  ...['&a ', '*a', '!!x ', 'null', '1e999', '~', '#', ' # c\n', '? ', '|', '>', '|+', '%', '\ud83d'],
]
const edit = fc.tuple(fc.nat(), fc.nat(6), fc.constantFrom(...INSERTED))

/** One of the texts with up to five places changed. */
export function damaged(texts: readonly string[]): fc.Arbitrary<string> {
  return fc.tuple(fc.constantFrom(...texts), fc.array(edit, { minLength: 1, maxLength: 5 })).map(([text, edits]) => {
    let changed = text
    for (const [at, cut, insert] of edits) {
      const start = at % (changed.length + 1)
      changed = changed.slice(0, start) + insert + changed.slice(start + cut)
    }
    return changed
  })
}
