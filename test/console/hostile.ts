/** Texts meant to be run, or taken for something else. Shown, they are text. */
export const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  'javascript:alert(1)',
  'pay\u202ednes\u200b to \u0430cme',
  "'; DROP TABLE entry; --",
] as const

/** An object within an object, so many levels deep. */
export function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = { end: 'here' }
  for (let i = 0; i < levels; i += 1) value = { deeper: value }
  return value
}
