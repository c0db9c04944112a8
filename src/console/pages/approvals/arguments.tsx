import type { Approval } from '../../../client/api.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { download } from '../../ui/download.ts'
import { JsonTree } from '../../ui/json-tree.tsx'
import { bytesText } from '../../ui/numbers.ts'

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
      <button type="button" class="button small" onClick={() => download(`${id}.json`, 'application/json', text)}>
        Download JSON
      </button>
    </span>
  )
}

/** The size of the arguments, such as `3 arguments, 1.2 kB`. */
export function amountOf({ context, plan }: Approval): string {
  const count = Object.keys(context).length + Object.keys(plan ?? {}).length
  const bytes = new TextEncoder().encode(JSON.stringify({ context, plan })).length
  return `${count} ${count === 1 ? 'argument' : 'arguments'}, ${bytesText(bytes)}`
}
