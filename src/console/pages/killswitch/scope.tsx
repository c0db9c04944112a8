import type { RefObject } from 'preact'
import type { KillSwitchLevel } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { useLoad } from '../../data/load.ts'
import { Button } from '../../ui/button.tsx'
import { Choice, TextField } from '../../ui/field.tsx'
import { Text } from '../../ui/text.tsx'

/** Limit of the service, in characters. */
const MAX_SCOPE = 128
/** Limit of suggestions that fit in a row without pushing the form away. */
const SUGGESTED = 8

const LEVELS = ['L1', 'L2', 'L3', 'L4'] as const

/** The levels of a stop that this key may use, in words. */
export function LevelChoice({ level, onLevel }: { level: KillSwitchLevel; onLevel: (level: KillSwitchLevel) => void }) {
  const { who, tenantId } = useConsole()
  const offered = LEVELS.filter((each) => each !== 'L4' || who.roles.includes('admin'))
  const words = {
    L1: ['An action or a pattern', 'such as payment.transfer or payment.*'],
    L2: ['A domain', 'the actions that the policies group under a name'],
    L3: [`All of ${tenantId}`, `every action requested with its ${who.environment} keys`],
    L4: ['Every tenant', 'everything that this service decides, live and test'],
  } as const
  return (
    <fieldset class="levels">
      <legend>Scope</legend>
      {offered.map((each) => {
        const [name, more] = words[each]
        return (
          <label key={each} class={each === level ? 'chosen' : ''}>
            <input type="radio" name="level" checked={each === level} onChange={() => onLevel(each)} />
            <span>
              <span class="level-name">
                {name} <span class="muted">{each}</span>
              </span>
              <span class="muted small">{more}</span>
            </span>
          </label>
        )
      })}
    </fieldset>
  )
}

interface ScopeProps {
  value: string
  onValue: (value: string) => void
}

interface ActionScopeProps extends ScopeProps {
  /** Suggested names and patterns. */
  known: readonly string[]
  onChosen: (value: string) => void
  /** Ref of the element around the field. */
  frame: RefObject<HTMLDivElement | null>
}

/** The action or pattern of a stop, with suggestions of known ones. Without suggestions, it is typed. */
export function ActionScope({ value, onValue, known, onChosen, frame }: ActionScopeProps) {
  const suggested = suggestionsFor(value, known)
  return (
    <div class="stack tight" ref={frame}>
      <TextField
        label="Action or pattern"
        value={value}
        onValue={onValue}
        isRequired
        maxLength={MAX_SCOPE}
        autoComplete="off"
        isMono
        hint="* stands for one part of a name, ** for any number of parts."
      />
      {suggested.length > 0 && (
        <ul class="row suggestions" aria-label="Known actions and patterns">
          {suggested.map((each) => (
            <li key={each}>
              <Button look="small" onClick={() => onChosen(each)}>
                <Text of={each} />
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

export function DomainScope({ value, onValue, domains, fault }: ScopeProps & { domains: string[]; fault?: string }) {
  if (domains.length === 0)
    return (
      <TextField
        label="Domain"
        value={value}
        onValue={onValue}
        isRequired
        maxLength={MAX_SCOPE}
        autoComplete="off"
        hint="The policies in force have no domain that can be shown here."
      />
    )
  const options = [['', 'Choose a domain…'], ...domains.map((name) => [name, name] as const)] as const
  return <Choice label="Domain" value={value} options={options} onValue={onValue} fault={fault} />
}

/** Known targets of a stop. A failure to load them blocks nobody. */
export function useKnown(): { domains: string[]; known: string[]; declared: string[] } {
  const { gate, may } = useConsole()
  const policies = useLoad(async (signal) => (may('listPolicies') ? gate.policies.list({ signal }) : undefined), [])
  // A preview for the whole tenant lists every known action, undeclared ones too.
  const used = useLoad((signal) => gate.killSwitch.preview({ level: 'L3' }, { signal }), [])
  const actions = [...new Set([...(policies.data?.actions ?? []), ...(used.data?.covers ?? [])])].sort()
  return {
    domains: policies.data?.domains ?? [],
    known: withPatterns(actions),
    declared: withPatterns(policies.data?.actions ?? []),
  }
}

/** Empty once the text is one of them. */
function suggestionsFor(typed: string, known: readonly string[]): string[] {
  if (known.includes(typed)) return []
  const wanted = typed.replace(/\*+$/, '').toLowerCase()
  return known.filter((each) => each.toLowerCase().includes(wanted)).slice(0, SUGGESTED)
}

/**
 * The actions, after the pattern for each first part of a name that covers all of them beginning with it.
 * Patterns come first, since they stop more.
 */
function withPatterns(actions: readonly string[]): string[] {
  const segments = new Map<string, number>()
  for (const action of actions) {
    const [first = '', ...rest] = action.split('.')
    if (rest.length > 0) segments.set(first, Math.max(segments.get(first) ?? 0, rest.length))
  }
  const patterns = [...segments].map(([first, most]) => `${first}.${most === 1 ? '*' : '**'}`)
  return [...patterns, ...actions]
}
