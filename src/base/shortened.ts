/** Shortens the text to at most `max` UTF-16 units. Keeps both its ends, where sentences say what to do. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text
  const tail = Math.floor(max / 3)
  return `${whole(text.slice(0, max - 1 - tail))}…${whole(text.slice(-tail))}`
}

/** Drops half a surrogate pair at either end. */
function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}
