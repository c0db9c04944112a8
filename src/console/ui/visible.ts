/** Text of others as it is, not as it wants to look: whatever could hide, reorder or imitate is found here and shown as what it is. */

export interface Part {
  kind: 'plain' | 'hidden' | 'lookalike'
  text: string
}

/** Line breaks and tabs are what they look like where text has several lines. */
const LAYOUT = /^[\n\t]$/
/**
 * Controls, formats (bidirectional ones, zero-width ones), private and unassigned characters, lone surrogates, line separators,
 * spaces other than U+0020, and what is drawn as nothing by default, such as fillers, tags and variation selectors.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u
/** Letters that can pass for Latin ones in a word that has those. */
const LOOKALIKE =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Coptic}]|[Ａ-Ｚａ-ｚ]|[\u{1d400}-\u{1d7ff}]/u
const LATIN = /[A-Za-z]/
/** What most texts are made of, and what is what it looks like. */
const PRINTABLE = /^[ -~]+$/
const WORD = /[\p{L}\p{N}\p{M}_]+|[^\p{L}\p{N}\p{M}_]+/gu

/** The text in parts, none of which is lost: joined they are the text again. */
export function visibleParts(text: string, severalLines = false): Part[] {
  if (PRINTABLE.test(text)) return [{ kind: 'plain', text }]
  const parts: Part[] = []
  for (const [word] of text.matchAll(WORD)) {
    const isMixed = LATIN.test(word) && LOOKALIKE.test(word)
    for (const character of word) add(parts, kindOf(character, isMixed, severalLines), character)
  }
  return parts
}

function kindOf(character: string, isMixed: boolean, severalLines: boolean): Part['kind'] {
  if (severalLines && LAYOUT.test(character)) return 'plain'
  if (HIDDEN.test(character)) return 'hidden'
  return isMixed && LOOKALIKE.test(character) ? 'lookalike' : 'plain'
}

/** Plain characters stand together; each other one by itself. */
function add(parts: Part[], kind: Part['kind'], text: string): void {
  const last = parts.at(-1)
  if (kind === 'plain' && last?.kind === 'plain') last.text += text
  else parts.push({ kind, text })
}

/** `U+202E` */
export function codePointOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
