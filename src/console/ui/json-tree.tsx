import { useState } from 'preact/hooks'
import { LongText, Text } from './text.tsx'

/** So many members of an object or a list are shown before somebody asks for more. */
const SHOWN = 50
/** Deeper than this, a value is shown as JSON. */
const MAX_DEPTH = 12

interface JsonTreeProps {
  value: unknown
  /** Where the value stands, such as `context`; undefined within a list, into which no path leads. */
  path: string | undefined
  /** Paths that are not part of what is agreed to. */
  unbound?: readonly string[]
  depth?: number
}

/** A JSON value by its members, every name and text of it as it is. */
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

/** A name that is written without quotes in a path, and is what it looks like. */
const PLAIN_NAME = /^[A-Za-z0-9_-]+$/

/** A member as paths name it (docs/policies.md): two names never have one spelling. */
function segmentText(name: string): string {
  return PLAIN_NAME.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
}

/** Texts in quotes, so that the text "5" is not the number 5, and nothing is not an empty text. */
function Scalar({ value }: { value: unknown }) {
  if (typeof value !== 'string') return <code class="scalar">{String(value)}</code>
  return (
    <span class="scalar string">
      <LongText of={value} />
    </span>
  )
}
