/** The commonest slips against docs/style.md, each with the advice that it gets. */
const SLIPS: readonly [pattern: RegExp, advice: string][] = [
  [
    /(?:^|[.;:] |^[-*] |\| )(?:\*\*)?(?:Who|What|Of|That) (?![^.|]*\?)/,
    'open with the noun, not with Who, What, Of or That',
  ],
  [/\b(?:to|for|of|by|from|with|than) who\b/, 'name the person: "anyone who", "the caller"'],
  [
    /(?<!\b[Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|other\b|way\b|need\b|match\b|such\b)[a-zA-Z]/,
    'write "is not a …"',
  ],
  [/\bstandard (?:error|input|output)\b/, 'write stderr, stdin, stdout'],
  [/\bmend(?:s|ed|ing)?\b/i, 'write "fix"'],
  [/\bthe way of an?\b/i, 'say what is described, such as "how a check is decided"'],
  [/\bwhoever\b/i, 'name the person: "anyone who"'],
  [/\bhas to have it\b/i, 'say what to add, and where'],
]

/** A slip on a line of a file, from 1. */
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
    slips.push(...slipsOf(raw.replace(/\]\([^)]*\)/g, ']'), () => i + 1))
  }
  return slips
}

/** Comments and literals of TypeScript, and regular expressions: a quote in one of these does not open a literal. */
const PIECE = new RegExp(
  [
    /\/\*(?<block>[\s\S]*?)\*\//,
    /(?<lines>\/\/[^\n]*(?:\n\s*\/\/[^\n]*)*)/,
    /(?<literal>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`)/,
    /(?<=(?:[(,=:[!&|?{\n]|=>|return)\s*)\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
)
const JSX_TEXT = /(?<=>\s*)[A-Za-z][^<>{}]*(?=[<{])/g

/** The slips in comments, literals and JSX text of a TypeScript file. A literal without a space is a name. */
export function slipsInSource(source: string): Slip[] {
  const slips: Slip[] = []
  const add = (prose: string, index: number): void => {
    const text = prose.replace(/\s*\n\s*/g, ' ').replace(/\$\{[^{}]*\}/g, 'X')
    slips.push(...slipsOf(text.trim(), () => source.slice(0, index).split('\n').length))
  }
  for (const { groups: { block, lines, literal } = {}, index } of source.matchAll(PIECE)) {
    const comment = block?.replace(/^[* ]+/gm, '') ?? lines?.replace(/^\s*\/\/ ?/gm, '')
    if (comment !== undefined) add(comment, index)
    if (literal?.includes(' ')) add(literal.slice(1, -1), index)
  }
  const code = source.replace(PIECE, (piece) => piece.replace(/[^\n]/g, ' '))
  if (/<\/|\/>/.test(code)) for (const { 0: text, index } of code.matchAll(JSX_TEXT)) add(text, index)
  return slips
}

function slipsOf(prose: string, line: () => number): Slip[] {
  const text = prose.replace(/`[^`]*`/g, 'X')
  return SLIPS.flatMap(([pattern, advice]) => {
    const found = pattern.exec(text)
    return found === null ? [] : [{ line: line(), text: text.slice(found.index, found.index + 60), advice }]
  })
}
