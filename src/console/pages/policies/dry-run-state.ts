import { useRef, useState } from 'preact/hooks'
import type { Api, DryRun, PolicyTexts } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { placeText, readJson } from '../../data/json-text.ts'
import { failure } from '../../data/load.ts'

/** What was entered. */
export interface Form {
  action: string
  agent: string
  /** JSON, or nothing. */
  context: string
  plan: string
  /** The draft is asked, not the policies in force. */
  isDraft: boolean
  draft: string
  /** The file in whose place the draft stands, beside the others in force; empty where it is the whole set. */
  standsFor: string
  /** Contents of lists by their paths: those in force are not known here. */
  lists: Readonly<Record<string, string>>
}

/** What is wrong with a text, and where. */
export interface TextFault {
  text: string
  index: number
}

type Faults = Partial<Record<'action' | 'context' | 'plan', TextFault>>

/** What was asked, and what would be decided. */
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
  isDraft: false,
  draft: '',
  standsFor: '',
  lists: {},
}
/** Of a draft that stands for all files. */
const DRAFT_NAME = 'draft.yaml'

interface State {
  faults: Faults
  asked: Asked | undefined
  error: GateError | undefined
  isBusy: boolean
}

export type DryRunState = ReturnType<typeof useDryRun>

/** A question to the policies: what is entered, and what came of it. */
export function useDryRun() {
  const { gate } = useConsole()
  const [form, setForm] = useState(EMPTY)
  const [state, setState] = useState<State>({ faults: {}, asked: undefined, error: undefined, isBusy: false })
  const round = useRef(0)

  const change = (part: Partial<Form>): void => {
    setForm((last) => ({ ...last, ...part }))
    // What is being changed is not told to be wrong until somebody asks again.
    const mended = Object.fromEntries(Object.keys(part).map((name) => [name, undefined]))
    setState((last) => ({ ...last, faults: { ...last.faults, ...mended } }))
  }
  const ask = async (texts: PolicyTexts | undefined): Promise<void> => {
    const { faults, question } = questionOf(form, texts)
    if (question === undefined) return setState((last) => ({ ...last, faults }))
    const mine = ++round.current
    setState((last) => ({ ...last, faults: {}, isBusy: true, error: undefined }))
    try {
      const of = await gate.policies.dryRun(question)
      const asked = { action: form.action, isDraft: form.isDraft, of }
      if (mine === round.current) setState({ faults: {}, asked, error: undefined, isBusy: false })
    } catch (error) {
      const told = failure(error)
      if (mine === round.current) setState((last) => ({ ...last, asked: undefined, error: told, isBusy: false }))
    }
  }
  return { form, change, ask, ...state }
}

type Question = Api['dryRun']['body']

/** As the service takes it; undefined where something that was entered is wrong. */
function questionOf(form: Form, texts: PolicyTexts | undefined): { faults: Faults; question?: Question } {
  const faults: Faults = {}
  const action = form.action.trim()
  if (action === '') faults.action = { text: 'An action is needed, such as payment.transfer.', index: 0 }
  const context = objectOf(form.context, (fault) => {
    faults.context = fault
  })
  const plan = objectOf(form.plan, (fault) => {
    faults.plan = fault
  })
  if (Object.keys(faults).length > 0) return { faults }
  const agent = form.agent.trim()
  const question = {
    action,
    ...(context && { context }),
    ...(plan && { plan }),
    ...(agent !== '' && { agent }),
    ...(form.isDraft && draftOf(form, texts)),
  }
  return { faults, question }
}

/** The members that a text has as JSON; undefined for an empty one. */
function objectOf(text: string, onFault: (fault: TextFault) => void): Record<string, unknown> | undefined {
  if (text.trim() === '') return undefined
  const read = readJson(text)
  if ('fault' in read) {
    onFault({ text: `${placeText(text, read.index)}: ${read.fault}.`, index: read.index })
    return undefined
  }
  const { value } = read
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return Object.fromEntries(Object.entries(value))
  onFault({ text: 'This has to be an object: { … }.', index: 0 })
  return undefined
}

function draftOf({ draft, standsFor, lists }: Form, texts: PolicyTexts | undefined): Pick<Question, 'files' | 'lists'> {
  const others = standsFor === '' ? [] : (texts?.files ?? []).filter(({ name }) => name !== standsFor)
  const files = [
    { name: standsFor || DRAFT_NAME, text: draft },
    ...others.flatMap(({ name, text }) => (text === null ? [] : { name, text })),
  ]
  const filled = Object.entries(lists).filter(([, text]) => text !== '')
  return { files, ...(filled.length > 0 && { lists: filled.map(([path, text]) => ({ path, text })) }) }
}
