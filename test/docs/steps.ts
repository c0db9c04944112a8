import type { Block, Fault } from './page.ts'

/** A piece of a page that is run by itself. */
export interface Step {
  /** Line of the page. */
  line: number
  /** Commands that the shell runs. */
  script: string
  /** For a line of a transcript: what it must print. */
  expected: string | undefined
  /** False where the page shows with `echo $?` that the command before failed. */
  mustSucceed: boolean
}

/** Lines that are not run, and why not. Only whole lines, so that nothing is hidden behind them. */
const NOT_RUN: readonly { line: RegExp; why: string }[] = [
  { line: /^docker /, why: 'there may be no engine; test/image replays what the Dockerfile does' },
  { line: /^npm ci( && npm test)?$/, why: 'this is what runs this test' },
  { line: /^npm (test|run test:\w+)( -- [\w./ -]+)?$/, why: 'this is one of the tests that it runs' },
  { line: /^npm run (check|build)$/, why: 'npm test does it' },
  { line: /^npm run bench( |$)/, why: 'it takes minutes and installs what it measures against' },
  {
    line: /^npm run evaluate( |$)/,
    why: 'test/evaluation runs it on a few sessions; on all it would write its page anew',
  },
  { line: /^npm run (demo|contract)$/, why: 'tests of their own play the same' },
  { line: /^npm run mutants$/, why: 'it takes minutes, and breaks what it tests' },
  { line: /^npm run dev$/, why: 'it serves until it is stopped, as npm start does, from the same source' },
  { line: /^git clone /, why: 'the copy in which pages are run is the clone' },
]

/** Lines that run until they are stopped; `npm ci` is what runs this test. */
const SERVICE = /^(?:npm ci && )?(npm start|(?:\S*\/)?gate-sidecar(?:\.js)? serve(?: .*)?)$/

const withoutComment = (line: string): string => line.replace(/\s+#.*$/, '').trim()

/** The steps of a block of commands (`sh`) or of a transcript (`console`). */
export function stepsOf(block: Block): { steps: Step[]; faults: Fault[] } {
  const { steps, faults } = block.language === 'sh' ? { steps: [shellStep(block)], faults: [] } : transcriptSteps(block)
  return { steps, faults: [...faults, ...unreachable(block)] }
}

/** A reader who pastes a block waits at the service for ever. In a transcript, output follows it. */
function unreachable({ language, lines, line }: Block): Fault[] {
  const typed = language === 'sh' ? lines : lines.map((text) => (text.startsWith('$ ') ? text.slice(2) : ''))
  const at = typed.findIndex((text) => SERVICE.test(withoutComment(text)))
  const hasMore = at >= 0 && typed.slice(at + 1).some((text) => text.trim() !== '')
  return hasMore ? [{ line: line + 1 + at, problem: 'nothing after the service is reached; end the block there' }] : []
}

function shellStep({ lines, line }: Block): Step {
  return { line, script: runnable(lines).join('\n'), expected: undefined, mustSucceed: true }
}

/** The reader saves the block as a file. */
export function saveStep({ line, lines }: Block, file: string): Step {
  const folder = file.includes('/') ? file.replace(/\/[^/]*$/, '') : '.'
  const script = [`mkdir -p ${folder}`, `cat >${file} <<'END_OF_BLOCK'`, ...lines, 'END_OF_BLOCK'].join('\n')
  return { line, script, expected: undefined, mustSucceed: true }
}

function runnable(lines: readonly string[], { onTerminal = false } = {}): string[] {
  return lines.map((text, i) => {
    const command = withoutComment(text)
    const isContinued = lines[i - 1]?.endsWith('\\') ?? false
    if (isContinued) return text
    if (NOT_RUN.some(({ line }) => line.test(command))) return ':'
    const service = SERVICE.exec(command)?.[1]
    if (service === undefined) return text
    // A transcript includes what the service shows only on a terminal.
    const started = onTerminal ? `script -qec '${service}' /dev/null <&9` : service
    return `start_service; ${started} >"$SERVICE_LOG" 2>&1 & await_service $!`
  })
}

/** Lines that begin with `$ ` are typed, `> ` continues them, the others are printed. */
function transcriptSteps({ lines, line }: Block): { steps: Step[]; faults: Fault[] } {
  const steps: { line: number; typed: string[]; printed: string[] }[] = []
  for (const [i, text] of lines.entries()) {
    const step = steps.at(-1)
    if (text.startsWith('$ ')) steps.push({ line: line + 1 + i, typed: [text.slice(2)], printed: [] })
    else if (step === undefined) return { steps: [], faults: [{ line, problem: 'a transcript begins with "$ "' }] }
    else if (text.startsWith('> ') && step.printed.length === 0) step.typed.push(text.slice(2))
    else step.printed.push(text)
  }
  if (steps.length === 0) return { steps: [], faults: [{ line, problem: 'a transcript begins with "$ "' }] }
  return {
    steps: steps.map(({ line: at, typed, printed }, i) => ({
      line: at,
      script: runnable(typed, { onTerminal: true }).join('\n'),
      expected: printed.join('\n'),
      mustSucceed: steps[i + 1]?.typed[0] !== 'echo $?',
    })),
    faults: [],
  }
}
