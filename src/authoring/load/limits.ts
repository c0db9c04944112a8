import { MAX_WORK, WEIGHTS } from '../../base/work.ts'

/** Limits of a policy set; more is an error, so that a set always loads in bounded time. */
export const LIMITS = {
  fileBytes: 1024 * 1024,
  /** Levels of nesting in a document, and of conditions that refer to conditions. */
  depth: 32,
  rulesPerSet: 10_000,
  /** Comparisons of all rules and factors, those of named conditions counted at each use: the cost of a first check. */
  leavesPerSet: 100_000,
  /** Different comparisons about one action: as many as a check has work for. */
  leavesPerAction: Math.floor(MAX_WORK / WEIGHTS.comparison.units),
  /** Characters of patterns over actions that a new action may have to be compared with: about 40 ms at worst. */
  globCharacters: 50_000,
  /** Counts and sums, and patterns of sessions: each one read is a look into the audit trail, about 0.1 ms. */
  overTimePerSet: 100,
  /** Characters of a regular expression. */
  pattern: 1000,
  /** Instructions of its program, with its repetitions written out: what a step of a search may take. */
  patternParts: 2000,
  listLines: 100_000,
  listBytes: 8 * 1024 * 1024,
  uniqueItems: 1000,
  /** Errors, and warnings, that are shown of one set; the rest are counted as one. */
  diagnostics: 5000,
  /** Characters of each message: it may quote texts as long as a file, and all messages are one answer. */
  message: 500,
  path: 300,
  /** Names that misspelt ones are compared with in all: the cost of suggestions, which is about a second. */
  namesSearched: 200_000,
  /** Nodes of a schema once its references are followed: compiling as many takes 0.1 s, at the first check of its action. */
  schemaNodes: 1000,
  /** Expectations of a test, each compared with each of its combinations. */
  expectationsPerTest: 1000,
  /** Combinations that the tests of a set make together. */
  casesPerSet: 10_000,
  /** Comparisons of all cases, so that tests run in bounded time before a set comes into force. */
  comparisonsOfTests: 300_000,
  /** Bytes of all files of a folder that are read, lists too: reading as many takes 20 ms each time. */
  setBytes: 16 * 1024 * 1024,
} as const
