import { Composer, type CST, type Document, Parser, type YAMLError } from 'yaml'
import { lru } from '../../base/memo.ts'
import { createReport } from '../diagnostics/report.ts'
import { type Source, sourceOf } from './node.ts'
import { type Inspection, inspectTokens } from './tokens.ts'

/** Result of the library for a text. */
export interface Parsed {
  readonly tokens: readonly CST.Token[]
  readonly inspection: Inspection
  /** The first documents of the text; a policy has one. Empty when the text nests too deeply to be composed. */
  readonly documents: readonly Document.Parsed[]
  /** Faults of syntax of the document that is read, in text order. */
  readonly faults: readonly YAMLError[]
}

// Faults that are reported from the tokens, with their exact place.
const KNOWN_FROM_TOKENS = new Set([
  'BAD_ALIAS',
  'BAD_DIRECTIVE',
  'TAG_RESOLVE_FAILED',
  'BAD_COLLECTION_TYPE',
  'MULTIPLE_ANCHORS',
  'MULTIPLE_TAGS',
  'ALIAS_PROPS',
  'BAD_PROP_ORDER',
])

/** The lists that a file names are looked for before it is loaded. A result takes up to 300 times its text: 2 MB here. */
const CACHED_TEXTS = 16
const MAX_CACHED_LENGTH = 8000

/** Reads YAML 1.2, core schema. Nothing is reported. */
export function parseYaml({ text }: Source): Parsed {
  return text.length > MAX_CACHED_LENGTH ? parse(text) : cached(text)
}

const cached = lru(CACHED_TEXTS, parse)

function parse(text: string): Parsed {
  const tokens = [...new Parser().parse(text)]
  // Composing recurses, and a stack that overflows inside a regular expression ends the process.
  const inspection = inspectTokens(tokens, sourceOf('', text), createReport())
  if (inspection.tooDeep) return { tokens, inspection, documents: [], faults: [] }
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  const documents = [...composer.compose(tokens)].slice(0, 2)
  const faults = (documents[0]?.errors ?? []).filter(({ code }) => !KNOWN_FROM_TOKENS.has(code))
  return { tokens, inspection, documents, faults: faults.sort((a, b) => a.pos[0] - b.pos[0]) }
}
