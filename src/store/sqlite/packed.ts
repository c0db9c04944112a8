import type { PreparedEntry } from '../../audit/draft.ts'
import type { PreparedSubmission } from '../submission.ts'

/**
 * Submissions as two texts: to clone each of their objects for a thread, and make it again there, costs more than to
 * write one. Canonical texts travel as they are, one after the other.
 */
export interface PackedSubmissions {
  /** JSON of Shape[]. */
  shapes: string
  texts: string
  /** Writes that JSON cannot hold, by the place of their submission; most have none. */
  writes: ReadonlyMap<number, PreparedSubmission['writes']>
}

interface Shape {
  guards: PreparedSubmission['guards']
  entries: readonly EntryShape[]
}

interface EntryShape extends Omit<PreparedEntry, 'sections'> {
  /** Name of each section, with the length of its text in UTF-16 units. */
  sections: readonly (readonly [name: string, length: number])[]
}

export function packed(submissions: readonly PreparedSubmission[]): PackedSubmissions {
  const writes = new Map<number, PreparedSubmission['writes']>()
  let texts = ''
  const shapes = submissions.map((submission, place): Shape => {
    if (submission.writes.length > 0) writes.set(place, submission.writes)
    const entries = submission.entries.map(({ id, chain, type, decision, sections }) => {
      for (const { json } of sections) texts += json
      return { id, chain, type, decision, sections: sections.map(({ name, json }) => [name, json.length] as const) }
    })
    return { guards: submission.guards, entries }
  })
  return { shapes: JSON.stringify(shapes), texts, writes }
}

export function unpacked({ shapes, texts, writes }: PackedSubmissions): PreparedSubmission[] {
  let at = 0
  const next = (length: number): string => {
    at += length
    return texts.slice(at - length, at)
  }
  // The text was made by `packed`.
  return (JSON.parse(shapes) as Shape[]).map(({ guards, entries }, place) => ({
    guards,
    writes: writes.get(place) ?? [],
    entries: entries.map(({ sections, ...entry }) => ({
      ...entry,
      sections: sections.map(([name, length]) => ({ name, json: next(length) })),
    })),
  }))
}
