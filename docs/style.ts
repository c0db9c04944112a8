/** The commonest slips against docs/style.md, each with the advice that it gets. */
const SLIPS: readonly [pattern: RegExp, advice: string][] = [
  [
    /(?:^|[.;:] |^[-*] |\| )(?:\*\*)?(?:Who|What|Of|That) (?![^.|]*\?)/,
    'open with the noun, not with Who, What, Of or That',
  ],
  [/\b(?:to|for|of|by|from|with|than) who\b/, 'name the person: "anyone who", "the caller"'],
  [
    /(?<!\b[Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|other\b|way\b|need\b|match\b|such\b)[a-z]/,
    'write "is not a …"',
  ],
  [/\bstandard (?:error|input|output)\b/, 'write stderr, stdin, stdout'],
  [/\bmend(?:s|ed|ing)?\b/i, 'write "fix"'],
  [/\bthe way of an?\b/i, 'say what is described, such as "how a check is decided"'],
  [/\bwhoever\b/i, 'name the person: "anyone who"'],
  [/\bhas to have it\b/i, 'say what to add, and where'],
]

/** A slip on a line of a document, from 1. */
export interface Slip {
  readonly line: number
  readonly text: string
  readonly advice: string
}

/** The slips in the prose of a Markdown document: code, links' targets and generated parts do not count. */
export function slipsIn(markdown: string): Slip[] {
  const slips: Slip[] = []
  let isCode = false
  let isGenerated = false
  for (const [i, raw] of markdown.split('\n').entries()) {
    if (raw.startsWith('<!-- from the code')) isGenerated = true
    if (raw.startsWith('<!-- end')) isGenerated = false
    const isFence = /^\s*(?:>\s*)?```/.test(raw)
    if (isFence) isCode = !isCode
    if (isCode || isFence || isGenerated) continue
    const text = raw.replace(/`[^`]*`/g, 'X').replace(/\]\([^)]*\)/g, ']')
    for (const [pattern, advice] of SLIPS) {
      const found = pattern.exec(text)
      if (found !== null) slips.push({ line: i + 1, text: text.slice(found.index, found.index + 60), advice })
    }
  }
  return slips
}
