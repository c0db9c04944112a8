/** Text of others without disguise: finds characters that hide, reorder or imitate, and shows them as what they are. */

export interface Part {
  kind: 'plain' | 'hidden' | 'lookalike' | 'break'
  text: string
}

/**
 * Controls, formats (bidirectional ones, zero-width ones), private and unassigned characters, lone surrogates, line separators,
 * spaces other than U+0020, characters drawn as nothing by default (fillers, tags, variation selectors) or as blank (an empty
 * braille cell, a musical null), and characters drawn around others.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Me}\u2800\u{1d159}]|(?! )\p{Zs}/u
const MARK = /\p{M}/u
/** Marks without a script, which strike out or cover the character below; those of scripts such as Devanagari are letters. */
const STRAY_MARK = /\p{Script=Inherited}/u
/** A number of marks on one letter that no script reaches. */
const MANY_MARKS = 4
/** Letters that resemble Latin ones within a word that has those. */
const OTHER_ALPHABET =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Coptic}]/u
const LATIN = /[A-Za-z]/
/** Cyrillic and Greek letters drawn like a Latin one: a word of these alone reads as a Latin word. */
const TWINS = /^[асеорхуіјѕԁһӏԛԝАВЕКМНОРСТУХІЈЅοανρικυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ\p{N}_]+$/u
/** Signs that resemble a slash, a dot, a colon, a hyphen, or a Latin letter. */
const SIGNS = /[\u2044\u2215\u29f8\u2024\ua789\u2236\u2010-\u2015\u2212\u0251\u0261\u0131\u0237\u01c3\u01c0]/u
/** Characters of most texts, none of which imitates another. */
const PRINTABLE = /^[ -~]+$/
const WORD = /[\p{L}\p{N}\p{M}_]+|[^\p{L}\p{N}\p{M}_]+/gu

/** The text in parts; joined, they are the text again. @param severalLines keeps line breaks and tabs */
export function visibleParts(text: string, severalLines = false): Part[] {
  if (PRINTABLE.test(text)) return [{ kind: 'plain', text }]
  const parts: Part[] = []
  for (const [word] of text.matchAll(WORD)) {
    const isImitation = TWINS.test(word) || (LATIN.test(word) && OTHER_ALPHABET.test(word))
    let before = ''
    let marks = 0
    for (const character of word) {
      marks = MARK.test(character) ? marks + 1 : 0
      const isCovering = marks > MANY_MARKS || (marks > 0 && isStray(before, character))
      add(parts, isCovering ? 'hidden' : kindOf(character, isImitation, severalLines), character)
      before = character
    }
  }
  return parts
}

/** True for a mark that does not form one letter with its base, as an accent does. */
function isStray(before: string, mark: string): boolean {
  return STRAY_MARK.test(mark) && (before + mark).normalize('NFC').length === (before + mark).length
}

function kindOf(character: string, isImitation: boolean, severalLines: boolean): Part['kind'] {
  if (severalLines && character === '\n') return 'break'
  if (severalLines && character === '\t') return 'plain'
  if (HIDDEN.test(character)) return 'hidden'
  const isOther = isImitation && OTHER_ALPHABET.test(character)
  return isOther || SIGNS.test(character) || isStyled(character) ? 'lookalike' : 'plain'
}

/** Full-width, mathematical, circled and other variants of an ASCII character. */
function isStyled(character: string): boolean {
  return !PRINTABLE.test(character) && /^[!-~]$/.test(character.normalize('NFKC'))
}

/** Joins consecutive plain characters; others stay alone. */
function add(parts: Part[], kind: Part['kind'], text: string): void {
  const last = parts.at(-1)
  if (kind === 'plain' && last?.kind === 'plain') last.text += text
  else parts.push({ kind, text })
}

/** Letters of right-to-left scripts. */
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Adlam}]/u

/** True if right-to-left text may change the displayed order of the characters between. */
export function isReordered(text: string): boolean {
  return RIGHT_TO_LEFT.test(text) && /[\p{N}A-Za-z]/u.test(text)
}

/** The text for plain-text places, with disguised characters written as `[U+202E]`. */
export function spelledOut(text: string): string {
  return visibleParts(text)
    .map((part) => (part.kind === 'plain' ? part.text : `[${codePointOf(part.text)}]`))
    .join('')
}

/** `U+202E` */
export function codePointOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
