import type { Approval } from '../../../client/api.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { download } from '../../ui/download.ts'
import { JsonTree } from '../../ui/json-tree.tsx'
import { bytesText } from '../../ui/numbers.ts'
import { Beginning } from '../../ui/text.tsx'

/** Limits of arguments in a line, and of characters of a name. */
const SHOWN = 3
const MAX_NAME = 24
/** Other names are quoted, or `a: 1, b` could pass for two, and an argument for a member of the plan. */
const PLAIN_NAME = /^(?!plan\.)[\w.-]+$/

/** The unchanged arguments of the action, and its plan if it has one. */
export function Arguments({ approval: { context, plan, unbound } }: { approval: Approval }) {
  return (
    <>
      <JsonTree value={context} path="context" unbound={unbound} />
      {plan !== null && (
        <>
          <p class="subhead">Plan</p>
          <JsonTree value={plan} path="plan" unbound={unbound} />
        </>
      )}
    </>
  )
}

/** Copies or downloads the exact request. */
export function ExactJson({ approval: { id, action, context, plan } }: { approval: Approval }) {
  const text = JSON.stringify({ action, context, plan }, null, 2)
  return (
    <span class="row">
      <CopyButton text={text} label="Copy as JSON" />
      <Button look="small" onClick={() => download(`${id}.json`, 'application/json', text)}>
        Download JSON
      </Button>
    </span>
  )
}

/** The size of the arguments, such as `3 arguments, 1.2 kB`. */
export function amountOf({ context, plan }: Approval): string {
  const count = Object.keys(context).length + Object.keys(plan ?? {}).length
  const bytes = new TextEncoder().encode(JSON.stringify({ context, plan })).length
  return `${count} ${count === 1 ? 'argument' : 'arguments'}, ${bytesText(bytes)}`
}

interface ArgumentLineProps {
  approval: Approval
  /** Limit of characters of a value. */
  most: number
}

/** The first arguments of an action in one line, `amount: 4800, to: "x@example.org", plan.step: "pay"`, and the count of the rest. */
export function ArgumentLine({ approval: { context, plan }, most }: ArgumentLineProps) {
  const members = [
    ...Object.entries(context).map(([name, value]) => ({ label: labelOf(name), value })),
    ...Object.entries(plan ?? {}).map(([name, value]) => ({ label: `plan.${labelOf(name)}`, value })),
  ]
  const more = members.length - SHOWN
  if (members.length === 0) return <span class="argument-line muted">no arguments</span>
  return (
    <span class="argument-line">
      <span class="first-arguments">
        {members.slice(0, SHOWN).map(({ label, value }, i) => (
          <span key={i}>
            {i > 0 && ', '}
            <span class="muted">
              <Beginning of={label} most={MAX_NAME} />:{' '}
            </span>
            <Beginning of={beginningOf(value, most)} most={most} />
          </span>
        ))}
      </span>
      {more > 0 && <span class="muted">{`${more} more`}</span>}
    </span>
  )
}

function labelOf(name: string): string {
  return PLAIN_NAME.test(name) ? name : JSON.stringify(name)
}

/** A value as JSON: whole, or a beginning longer than `most`, without serializing all of a large value. */
function beginningOf(value: unknown, most: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, most))
  if (typeof value !== 'object' || value === null) return String(value)
  const isList = Array.isArray(value)
  const members: [string, unknown][] = isList
    ? value.slice(0, most).map((item) => ['', item])
    : Object.entries(value).slice(0, most)
  let text = isList ? '[' : '{'
  for (const [i, [name, item]] of members.entries()) {
    if (text.length > most) return text
    const label = isList ? '' : `${JSON.stringify(name.slice(0, most))}:`
    text += `${i > 0 ? ',' : ''}${label}${beginningOf(item, most)}`
  }
  return text + (isList ? ']' : '}')
}
