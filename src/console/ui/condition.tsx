import type { ExplainedCondition } from '../../client/api.ts'
import { PolicyPlace } from './policy-place.tsx'
import { Shown } from './shown.tsx'
import { Text } from './text.tsx'

const OUTCOMES = {
  true: { mark: '✓', word: 'holds' },
  false: { mark: '✗', word: 'does not hold' },
  unknown: { mark: '?', word: 'unknown' },
} as const

/** What a condition came to, by a sign and, for screen readers, a word. */
export function Outcome({ of }: { of: ExplainedCondition['outcome'] }) {
  const { mark, word } = OUTCOMES[of]
  return (
    <span class={`outcome ${of}`} title={word}>
      <span aria-hidden="true">{mark}</span>
      <span class="visually-hidden">{word}:</span>
    </span>
  )
}

const GROUPS = { all: 'all of', any: 'any of', not: 'not' } as const

/** A condition with what it is made of. */
export function Condition({ of }: { of: ExplainedCondition }) {
  return (
    <ul class="conditions">
      <Node of={of} />
    </ul>
  )
}

function Node({ of }: { of: ExplainedCondition }) {
  const { kind, outcome, conditions = [], leftOut = 0, name = '', file, line } = of
  return (
    <li>
      <Outcome of={outcome} />
      <span class="condition">
        {kind === 'leaf' ? (
          <Leaf of={of} />
        ) : kind === 'condition' ? (
          <>
            the condition{' '}
            <code>
              <Text of={name} />
            </code>{' '}
            {file !== undefined && line !== undefined && <PolicyPlace file={file} line={line} />}
          </>
        ) : (
          GROUPS[kind]
        )}
      </span>
      {conditions.length > 0 && (
        <ul class="conditions">
          {conditions.map((condition, i) => (
            <Node key={i} of={condition} />
          ))}
        </ul>
      )}
      {leftOut > 0 && <p class="muted small">{leftOut.toLocaleString()} more are not shown.</p>}
    </li>
  )
}

function Leaf({ of: { fact = '', operator = '', wanted, seen = null, defaulted } }: { of: ExplainedCondition }) {
  return (
    <>
      <code>
        <Text of={fact} /> <strong>{operator}</strong> {wanted && <Shown of={wanted} />}
      </code>
      <span class="seen">
        <Seen of={seen} isDefault={defaulted} />
      </span>
    </>
  )
}

type Value = ExplainedCondition['seen']

/** What a fact was. */
export function Seen({ of, isDefault }: { of: Value; isDefault: true | undefined }) {
  if (of == null) return <span class="badge require_approval">missing</span>
  return (
    <>
      <span class="muted">was</span>{' '}
      <code>
        <Shown of={of} />
      </code>
      {isDefault && <span class="muted"> (missing; its default)</span>}
    </>
  )
}
