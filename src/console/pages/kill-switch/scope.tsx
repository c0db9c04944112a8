import type { RefObject } from 'preact'
import { useConsole } from '../../data/console.ts'
import { useLoad } from '../../data/load.ts'
import { Button } from '../../ui/button.tsx'
import { Choice, TextField } from '../../ui/field.tsx'
import { Text } from '../../ui/text.tsx'
import { MAX_SCOPE } from './limits.ts'

/** Limit of suggestions that fit in a row without pushing the form away. */
const SUGGESTED = 8

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
        hint="The policies in force name none that can be shown here."
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

/** Patterns first, since they stop more. */
function withPatterns(actions: readonly string[]): string[] {
  return [...patternsOver(actions), ...actions]
}

/** For each first part of a name, the pattern that covers all known actions beginning with it. */
function patternsOver(actions: readonly string[]): string[] {
  const segments = new Map<string, number>()
  for (const action of actions) {
    const [first = '', ...rest] = action.split('.')
    if (rest.length > 0) segments.set(first, Math.max(segments.get(first) ?? 0, rest.length))
  }
  return [...segments].map(([first, most]) => `${first}.${most === 1 ? '*' : '**'}`)
}
