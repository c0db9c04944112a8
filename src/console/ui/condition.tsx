import type { ExplainedCondition, ShownValue } from '../../client/api.ts'
import { Code } from './code.tsx'
import { PolicyPlace } from './policy-place.tsx'
import { Shown } from './shown.tsx'
import { Text } from './text.tsx'

const MARKS = {
  true: { sign: '✓', word: 'holds' },
  false: { sign: '✗', word: 'does not hold' },
  unknown: { sign: '?', word: 'unknown: a fact is missing' },
} as const

/** The result of a condition. */
export function Mark({ of }: { of: ExplainedCondition['outcome'] }) {
  const { sign, word } = MARKS[of]
  return (
    <span class={`mark ${of}`} title={word}>
      <span aria-hidden="true">{sign}</span>
      <span class="visually-hidden">{word}</span>
    </span>
  )
}

/** The value of the fact. */
export function Seen({ of, isDefault }: { of: ShownValue | null; isDefault: boolean }) {
  return (
    <span class="seen">
      {' — '}
      {of === null ? (
        'is missing'
      ) : (
        <>
          is <Shown of={of} />
          {isDefault && ' (missing: its default)'}
        </>
      )}
    </span>
  )
}

/** A condition with its parts. */
export function Condition({ of }: { of: ExplainedCondition }) {
  return (
    <ul class="conditions">
      <Branch of={of} />
    </ul>
  )
}

function Branch({ of }: { of: ExplainedCondition }) {
  const { outcome, conditions = [], leftOut = 0, file, line } = of
  return (
    <li>
      <div class="row baseline explained-head">
        <Mark of={outcome} />
        <span class="asked">
          <ConditionLabel of={of} />
        </span>
        {file !== undefined && line !== undefined && <PolicyPlace file={file} line={line} />}
      </div>
      {(conditions.length > 0 || leftOut > 0) && (
        <ul class="conditions">
          {conditions.map((condition, i) => (
            <Branch key={i} of={condition} />
          ))}
          {leftOut > 0 && <li class="truncated">{`${leftOut.toLocaleString()} more conditions are not shown.`}</li>}
        </ul>
      )}
    </li>
  )
}

const GROUPS = { all: 'all of', any: 'any of', not: 'not' } as const

function ConditionLabel({ of }: { of: ExplainedCondition }) {
  const { kind, fact = '', operator = '', wanted, seen = null, defaulted, name = '', conditions = [], leftOut = 0 } = of
  const { overBudget } = of
  if (kind === 'leaf')
    return (
      <>
        <Code of={fact} /> {operator}{' '}
        {wanted !== undefined && operator !== 'exists' && operator !== 'missing' && <Shown of={wanted} />}
        {overBudget ? ' — exceeds the work limit of a check' : <Seen of={seen} isDefault={defaulted === true} />}
      </>
    )
  if (kind === 'condition')
    return (
      <>
        condition <Text of={name} />
        {conditions.length === 0 && leftOut === 0 && ', as above'}
      </>
    )
  return <>{GROUPS[kind]}</>
}
