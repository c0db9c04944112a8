/** A table of Markdown whose columns are as wide as their longest cell. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = header.map((name, i) => Math.max(3, name.length, ...escaped.map((row) => (row[i] ?? '').length)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  return [header, widths.map((width) => '-'.repeat(width)), ...escaped].map(line).join('\n')
}
