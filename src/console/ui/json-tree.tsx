import { useState } from 'preact/hooks'
import { LongText, Text } from './text.tsx'

/** Limit of members shown before a click on more. */
const SHOWN = 50
/** Deeper values appear as JSON. */
const MAX_DEPTH = 12

interface JsonTreeProps {
  value: unknown
  /** The path of the value, such as `context`; undefined within a list, which no path reaches. */
  path: string | undefined
  /** Paths that the approval does not bind. */
  unbound?: readonly string[]
  depth?: number
}

/** A JSON value by its members, with every name and text unchanged. */
export function JsonTree({ value, path, unbound = [], depth = 0 }: JsonTreeProps) {
  if (typeof value !== 'object' || value === null) return <Scalar value={value} />
  const isList = Array.isArray(value)
  const members: [string, unknown][] = isList ? value.map((item, i) => [String(i), item]) : Object.entries(value)
  if (members.length === 0) return <span class="muted">{isList ? 'empty list' : 'no members'}</span>
  if (depth >= MAX_DEPTH) return <LongText of={JSON.stringify(value)} />
  return <Members {...{ members, path, unbound, depth, isList }} />
}

interface MembersProps {
  members: readonly [string, unknown][]
  path: string | undefined
  unbound: readonly string[]
  depth: number
  isList: boolean
}

function Members({ members, path, unbound, depth, isList }: MembersProps) {
  const [isWhole, setIsWhole] = useState(false)
  const shown = isWhole ? members : members.slice(0, SHOWN)
  return (
    <dl class={`json ${isList ? 'list' : ''}`}>
      {shown.map(([name, value]) => {
        const inner = isList || path === undefined ? undefined : `${path}${segmentText(name)}`
        const isUnbound = inner !== undefined && unbound.includes(inner)
        return (
          <div key={name} class={isUnbound ? 'unbound' : ''}>
            <dt>
              <Text of={isList || PLAIN_NAME.test(name) ? name : JSON.stringify(name)} />
              {isUnbound && <span class="tag">not bound</span>}
            </dt>
            <dd>
              <JsonTree value={value} path={inner} unbound={unbound} depth={depth + 1} />
            </dd>
          </div>
        )
      })}
      {shown.length < members.length && (
        <div class="truncated">
          {`${members.length - shown.length} more members `}
          <button type="button" class="link" onClick={() => setIsWhole(true)}>
            Show them
          </button>
        </div>
      )}
    </dl>
  )
}

/** A name that is unquoted in a path, and has no look-alikes. */
const PLAIN_NAME = /^[A-Za-z0-9_-]+$/

/** A member in the notation of paths (docs/policies.md): two names never have one spelling. */
function segmentText(name: string): string {
  return PLAIN_NAME.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
}

/** Texts are quoted, so that the text "5" differs from the number 5, and an empty text from none. */
function Scalar({ value }: { value: unknown }) {
  if (typeof value !== 'string') return <code class="scalar">{String(value)}</code>
  return (
    <span class="scalar string">
      <LongText of={value} />
    </span>
  )
}
