import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Api, DryRun, PolicyTexts } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { isObject } from '../../../client/objects.ts'
import { useConsole } from '../../data/console.ts'
import { placeText, readJson } from '../../data/json-text.ts'
import { failure } from '../../data/load.ts'
import { usePlace } from '../../data/place.ts'
import { nameOf } from '../../data/policy-address.ts'

/** The input of a dry run. */
export interface Form {
  action: string
  agent: string
  /** JSON, or empty. */
  context: string
  plan: string
  draft: string
  /** True after an edit: the draft is the user's, and no text in force replaces it automatically. */
  isEdited: boolean
  /** The file that the draft replaces, beside the others in force; empty if it is the whole set. */
  standsFor: string
  /** Contents of lists by path, which replace those in force, unknown here. */
  lists: Readonly<Record<string, string>>
}

export interface TextFault {
  text: string
  index: number
}

type Faults = Partial<Record<'action' | 'context' | 'plan', TextFault>>

/** A completed request, and its hypothetical decision. */
export interface Asked {
  action: string
  isDraft: boolean
  of: DryRun
}

const EMPTY: Form = {
  action: '',
  agent: '',
  context: '{\n  \n}',
  plan: '',
  draft: '',
  isEdited: false,
  standsFor: '',
  lists: {},
}
/** The name of a draft that replaces all files. */
const DRAFT_NAME = 'draft.yaml'

interface State {
  faults: Faults
  asked: Asked | undefined
  error: GateError | undefined
  isBusy: boolean
}

export type DryRunState = ReturnType<typeof useDryRun>

/** True if the address asks for a draft; keeps its last value while another part of the page is shown. */
function useIsDraft(): boolean {
  const { path } = usePlace()
  const last = useRef(false)
  if (path[1] === 'dry-run') last.current = path[2] === 'draft'
  return last.current
}

/** A dry run: its input and its result. @param texts the policies in force */
export function useDryRun(texts: PolicyTexts | undefined) {
  const { gate } = useConsole()
  const isDraft = useIsDraft()
  const [form, setForm] = useState(EMPTY)
  const [state, setState] = useState<State>({ faults: {}, asked: undefined, error: undefined, isBusy: false })
  const round = useRef(0)

  const change = (part: Partial<Form>): void => {
    setForm((last) => ({ ...last, ...part }))
    // A changed field shows no fault until the next request.
    const mended = Object.fromEntries(Object.keys(part).map((name) => [name, undefined]))
    setState((last) => ({ ...last, faults: { ...last.faults, ...mended } }))
  }
  const beginning = useBeginning(texts, form, state.asked, change)
  const ask = async (): Promise<void> => {
    const { faults, question } = questionOf(form, texts, isDraft)
    if (question === undefined) return setState((last) => ({ ...last, faults }))
    const mine = ++round.current
    setState((last) => ({ ...last, faults: {}, isBusy: true, error: undefined }))
    try {
      const of = await gate.policies.dryRun(question)
      const asked = { action: form.action, isDraft, of }
      if (mine === round.current) setState({ faults: {}, asked, error: undefined, isBusy: false })
    } catch (error) {
      const caught = failure(error)
      if (mine === round.current) setState((last) => ({ ...last, asked: undefined, error: caught, isBusy: false }))
    }
  }
  return { form, change, ask, isDraft, ...beginning, ...state }
}

/** Fills in the text in force that a draft starts with, until the user edits it. */
function useBeginning(
  texts: PolicyTexts | undefined,
  form: Form,
  asked: Asked | undefined,
  change: (part: Partial<Form>) => void,
) {
  const { path, query } = usePlace()
  // Other parts of the page have file parameters too, unrelated to the draft.
  const isHere = path[1] === 'dry-run' && path[2] === 'draft'
  const file = isHere ? query.get('file') : null
  const named = file === null ? undefined : nameOf(file)
  const hasBegun = useRef(false)
  /** True after the user opened an address with a file: its text takes precedence. */
  const [isComing, setIsComing] = useState(false)
  const { draft, standsFor, isEdited } = form
  const isTheirs = isEdited && draft !== ''
  const begin = (name: string): void => {
    const first = texts?.files.find((each) => each.name === name) ?? texts?.files[0]
    hasBegun.current = true
    change({ standsFor: first?.name ?? '', draft: first?.text ?? '', isEdited: false })
    setIsComing(named !== undefined)
  }
  // Runs before painting: nobody sees an empty draft, or edits it.
  useLayoutEffect(() => {
    if (!isHere || texts === undefined || isTheirs) return
    const isOther = named !== undefined && named !== standsFor
    if (!hasBegun.current || isOther) return begin(named ?? nameOf(fileThatDecided(asked) ?? ''))
    const inForce = textOf(texts, standsFor)
    // Policies may have been reloaded since.
    if (!isEdited && inForce !== undefined && inForce !== draft) change({ draft: inForce })
  }, [isHere, texts?.digest, named])
  /** The file in the address, while the draft is an edited one of another file. */
  const instead = isTheirs && named !== standsFor ? texts?.files.find(({ name }) => name === named)?.name : undefined
  return { isComing, arrived: () => setIsComing(false), instead, begin }
}

/** The text in force; undefined for an unknown file, or a text that is not available here. */
export function textOf(texts: PolicyTexts | undefined, file: string): string | undefined {
  return texts?.files.find(({ name }) => name === file)?.text ?? undefined
}

function fileThatDecided(asked: Asked | undefined): string | undefined {
  return asked?.of.verdict?.explanation.rules.find(({ decides }) => decides)?.file
}

type Question = Api['dryRun']['body']

/** The request for the service; undefined if the input has faults. */
function questionOf(
  form: Form,
  texts: PolicyTexts | undefined,
  isDraft: boolean,
): { faults: Faults; question?: Question } {
  const faults: Faults = {}
  const action = form.action.trim()
  if (action === '') faults.action = { text: 'An action is needed, such as payment.transfer.', index: 0 }
  const context = objectOf(form.context)
  const plan = objectOf(form.plan)
  if (context.fault) faults.context = context.fault
  if (plan.fault) faults.plan = plan.fault
  if (Object.keys(faults).length > 0) return { faults }
  const agent = form.agent.trim()
  const question = {
    action,
    ...(context.value && { context: context.value }),
    ...(plan.value && { plan: plan.value }),
    ...(agent !== '' && { agent }),
    ...(isDraft && draftOf(form, texts)),
  }
  return { faults, question }
}

/** A JSON object, or the fault of the text; neither for empty text. */
function objectOf(text: string): { value?: Record<string, unknown>; fault?: TextFault } {
  if (text.trim() === '') return {}
  const read = readJson(text)
  if ('fault' in read) return { fault: { text: `${placeText(text, read.index)}: ${read.fault}.`, index: read.index } }
  if (isObject(read.value)) return { value: read.value }
  return { fault: { text: 'This must be an object: { … }.', index: 0 } }
}

type Drafted = Pick<Api['replayPolicies']['body'], 'files' | 'lists'>

/** The draft with the other files in force, for the service. */
export function draftOf({ draft, standsFor, lists }: Form, texts: PolicyTexts | undefined): Drafted {
  const others = standsFor === '' ? [] : (texts?.files ?? []).filter(({ name }) => name !== standsFor)
  const files = [
    { name: standsFor || DRAFT_NAME, text: draft },
    ...others.flatMap(({ name, text }) => (text === null ? [] : { name, text })),
  ]
  const filled = Object.entries(lists).filter(([, text]) => text !== '')
  return { files, ...(filled.length > 0 && { lists: filled.map(([path, text]) => ({ path, text })) }) }
}
