import { visible } from '../../base/visible.ts'
import type { Diagnostic } from './diagnostics.ts'
import { pageOf } from './pages.ts'

/**
 * The fault as a workflow command, which GitHub Actions shows beside the line.
 *
 * @param file Relative to the root of the repository
 */
export function githubCommand(diagnostic: Diagnostic, file: string): string {
  const { severity, code, line, column, endColumn, message, suggestion } = diagnostic
  const properties = {
    file,
    line,
    col: column,
    ...(endColumn !== undefined && { endColumn }),
    title: code,
  }
  const list = Object.entries(properties).map(([name, value]) => `${name}=${property(String(value))}`)
  const meant = suggestion === null ? '' : ` Did you mean \`${suggestion}\`?`
  return `::${severity} ${list.join(',')}::${data(`${message}${meant} See ${pageOf(code)}.`)}`
}

// A line that begins with :: is a command: untrusted text must stay on its line, and within its part of it.
function data(text: string): string {
  return visible(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
