import { METRICS, PREFIX } from '../src/service/metric-table.ts'
import { table } from './markdown.ts'

const code = (text: string): string => `\`${text}\``

/** The metrics, and the alert that each is for, as Markdown. */
export function metricTable(): string {
  const rows = Object.entries(METRICS).map(([name, { type, help, alert }]) => [
    code(PREFIX + name),
    type,
    help,
    `${code(alert.when)}${alert.for === '0m' ? '' : ` for ${alert.for}`}`,
    alert.means,
  ])
  return table(['metric', 'type', 'what it measures', 'alert when', 'what that means'], rows)
}

/** The alerts as a file of rules of Prometheus. */
export function alertRules(): string {
  const rules = Object.entries(METRICS).map(([name, { alert }]) => {
    const lines = [
      `- alert: GateSidecar${camel(name)}`,
      `  expr: ${quoted(alert.when)}`,
      `  for: ${alert.for}`,
      '  annotations:',
      `    summary: ${JSON.stringify(alert.means.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1'))}`,
    ]
    return lines.map((line) => `      ${line}\n`).join('')
  })
  return `# Written by npm run docs, from src/service/metric-table.ts.\ngroups:\n  - name: gate-sidecar\n    rules:\n${rules.join('')}`
}

/** As the formatter writes it. */
function quoted(text: string): string {
  return text.includes('"') ? `'${text}'` : `"${text}"`
}

function camel(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
