/** The text as it is, or its beginning and its end, where sentences say what to do; at most `max` UTF-16 units. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text
  const tail = Math.floor(max / 3)
  return `${whole(text.slice(0, max - 1 - tail))}…${whole(text.slice(-tail))}`
}

/** Without the half of a character at either end. */
function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}
