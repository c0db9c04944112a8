import assert from 'node:assert/strict'

export interface XmlElement {
  name: string
  attributes: Record<string, string>
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
/** Characters that XML 1.0 cannot hold. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones
const NO_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/u

/** The elements in document order; fails for what is no well-formed XML, in the part of it that reports use. */
export function readXml(text: string): XmlElement[] {
  const body = text.replace('<?xml version="1.0" encoding="UTF-8"?>\n', '')
  assert.notEqual(body, text, 'it begins with the declaration')
  return readElements(body)
}

/** The same of a text without a declaration, which UTF-8 does not need. */
export function readElements(body: string): XmlElement[] {
  assert.doesNotMatch(body, NO_XML)
  const elements: XmlElement[] = []
  const open: string[] = []
  let at = 0
  const tag = /<(\/?)([a-z]+)((?: [a-zA-Z0-9-]+="[^"<]*")*)(\/?)>/g
  for (const match of body.matchAll(tag)) {
    readText(body.slice(at, match.index))
    at = match.index + match[0].length
    const [, closing, name = '', attributes = '', alone] = match
    if (closing === '/') assert.equal(open.pop(), name)
    else elements.push({ name, attributes: readAttributes(attributes) })
    if (closing === '' && alone === '') open.push(name)
  }
  readText(body.slice(at))
  assert.deepEqual(open, [], 'every element is closed')
  return elements
}

function readAttributes(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/ ([a-zA-Z0-9-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [
    name,
    readText(value),
  ])
  const attributes = Object.fromEntries(pairs)
  assert.equal(Object.keys(attributes).length, pairs.length, 'no attribute stands twice')
  return attributes
}

function readText(text: string): string {
  assert.doesNotMatch(text, /[<>]|\]\]>/)
  return text.replace(
    /&([^;]*;?)/g,
    (_, entity: string) => ENTITIES[entity.replace(/;$/, '')] ?? assert.fail(`&${entity}`),
  )
}
