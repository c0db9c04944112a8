/** Why a pattern does not compile, from what RE2 says about it. */
export function patternFault(fault: string): string {
  return `The pattern does not compile as RE2: ${fault}.${hint(fault)}`
}

function hint(fault: string): string {
  if (/\(\?<?[=!]|named capture/.test(fault)) {
    return ' There is no looking ahead or behind; write two conditions, or say the opposite with not:matches.'
  }
  if (/invalid escape sequence: `\\[1-9]/.test(fault)) return ' There are no references to earlier groups.'
  if (/missing argument to repetition/.test(fault)) {
    return ' Any text is .* in a pattern; endsWith and startsWith ask for plain text.'
  }
  return ''
}
