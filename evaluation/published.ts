import { readFileSync } from 'node:fs'
import { percent } from './score.ts'

/** Published results of others on the same benchmarks, for comparison with our own numbers. */

/** Rates in percent. `none` is the run without an attack. */
interface Recorded {
  source: string
  pipeline: string
  attack: string
  suite: string
  sessions: number
  utility_pct: number
  attack_success_pct: number | null
}

/** A benchmark of which the corpus has every session of one pipeline. */
export interface Benchmark {
  source: string
  title: string
  model: string
  /** The pipeline without a defence; those with one have a suffix. */
  pipeline: string
  defences: Readonly<Record<string, string>>
}

const ATTACK = 'important_instructions'

export const BENCHMARKS: readonly Benchmark[] = [
  {
    source: 'agentdojo',
    title: 'AgentDojo',
    model: 'gpt-4o',
    pipeline: 'gpt-4o-2024-05-13',
    defences: {
      '-spotlighting_with_delimiting': 'spotlighting',
      '-repeat_user_prompt': 'repeat user prompt',
      '-transformers_pi_detector': 'PI detector',
      '-tool_filter': 'tool filter',
    },
  },
  {
    source: 'agentdyn',
    title: 'AgentDyn',
    model: 'gpt-4o',
    pipeline: 'gpt-4o-2024-08-06',
    defences: {
      '-repeat_user_prompt': 'repeat user prompt',
      '-prompt_guard_2_detector': 'PromptGuard 2',
      '-spotlighting_with_delimiting': 'spotlighting',
      '-tool_filter': 'tool filter',
      '-transformers_pi_detector': 'PI detector',
      '-piguard_detector': 'PIGuard',
      '-progent': 'Progent',
      '-drift': 'DRIFT',
    },
  },
]

export interface PublishedDefence {
  title: string
  attackSuccess: number
  utility: number
  utilityUnderAttack: number
  attacked: number
  clean: number
}

/** Rates of the recorded runs of a benchmark's model, without a defence first. @throws Error for an unrecorded run */
export function publishedFor({ source, pipeline, defences }: Benchmark): PublishedDefence[] {
  const rows = recorded().filter((row) => row.source === source && row.suite === 'ALL')
  const rowOf = (name: string, attack: string): Recorded => {
    const found = rows.find((row) => row.pipeline === name && row.attack === attack)
    if (found === undefined) throw new Error(`recorded-defences.json has no run of ${source}, ${name}, ${attack}`)
    return found
  }
  return Object.entries({ '': 'no defence', ...defences }).map(([suffix, title]) => {
    const clean = rowOf(pipeline + suffix, 'none')
    const attacked = rowOf(pipeline + suffix, ATTACK)
    return {
      title,
      attackSuccess: attacked.attack_success_pct ?? 0,
      utility: clean.utility_pct,
      utilityUnderAttack: attacked.utility_pct,
      attacked: attacked.sessions,
      clean: clean.sessions,
    }
  })
}

function recorded(): Recorded[] {
  return JSON.parse(readFileSync(new URL('corpus/recorded-defences.json', import.meta.url), 'utf8'))
}

interface Artefact {
  defence: string
  data: string
  attackSuccess: string
  utility: string
  from: string
}

const CAMEL = 'stored outputs of the notebook in google-research/camel-prompt-injection @ f083b6b'
/** Number of attacks of AgentDojo v1.2, without and with CaMeL. */
const CAMEL_ATTACKS = 949

function camel(model: string, attacks: readonly [number, number], utility: readonly [number, number]): Artefact {
  const rate = (count: number) => percent(count, CAMEL_ATTACKS)?.toFixed(2)
  return {
    defence: 'CaMeL',
    data: `${model}, AgentDojo (${CAMEL_ATTACKS} attacked)`,
    attackSuccess: `${rate(attacks[0])} → ${rate(attacks[1])}`,
    utility: `${utility[0].toFixed(1)} → ${utility[1].toFixed(1)}`,
    from: CAMEL,
  }
}

/** Figures of their authors, which could not be counted again here. Models differ: compare within a row only. */
export const ARTEFACTS: readonly Artefact[] = [
  camel('Claude 4 Sonnet', [75, 11], [86.6, 74.2]),
  camel('Gemini 2.5 Pro', [163, 0], [73.2, 41.2]),
  camel('Gemini 2.5 Flash', [297, 1], [55.7, 35.1]),
  camel('o3', [11, 0], [84.5, 77.3]),
  camel('o4-mini', [2, 1], [79.4, 76.3]),
  {
    defence: 'Progent, generated policies',
    data: 'AgentDojo',
    attackSuccess: '41.2 → 2.2',
    utility: '',
    from: 'abstract of the first version of the paper; the second gives 0 with policies written by hand',
  },
  {
    defence: 'Progent, independent rerun',
    data: 'Qwen2.5-7B, AgentDojo',
    attackSuccess: '25.8 → 4.2',
    utility: '',
    from: 'arXiv 2606.26479',
  },
  {
    defence: 'Microsoft ACS',
    data: 'AgentDojo, part of banking, scripted ground truth',
    attackSuccess: '100 → 0',
    utility: '80.0 → 80.0; under attack 80.0 → 0',
    from: 'agent-governance-toolkit, policy-engine/benchmarks/agentdojo; it denies five write tools while a result with injection markers is in scope',
  },
]

/** Percentage of runs without an attack that trigger a policy of CaMeL, to compare with our interrupted sessions. */
export const CAMEL_TRIGGERED = { normal: 33.9, strict: 53.2 } as const
