import { readFileSync } from 'node:fs'
import { EXAMPLES } from '../../docs/examples.ts'
import { GateError } from '../../src/base/errors.ts'
import { type Json, parseJson } from '../../src/base/json.ts'
import { jsonDifference, matchesText } from './compare.ts'
import { type Block, blocksOf, type Fault } from './page.ts'
import { isPolicyBlock, policyBlocks } from './policy-block.ts'
import { runSteps, type StepResult } from './shell.ts'
import { type Step, saveStep, stepsOf } from './steps.ts'

/** Commands that a reader would type; such a line must be in a block that is run. */
const COMMAND = /^(\$ |(npm|npx|node|curl|git|docker|gate-sidecar|bash|sh) )/

/** Code that something else runs, by language: a block is the whole of it, or a part. */
const RUN_ELSEWHERE: Readonly<Record<string, { where: string; texts(): string[] }>> = {
  ts: { where: 'integrations/', texts: () => Object.values(EXAMPLES).map((example) => example()) },
  python: {
    where: 'docs/integrations/python.md',
    texts: () => [readFileSync(new URL('../../docs/integrations/python.md', import.meta.url), 'utf8')],
  },
}

/**
 * Runs every block of a page, and gives what is not as the page says.
 *
 * `sh`: commands, all blocks of a page in one shell, none of which may fail. `console`: a transcript, `$ ` before what
 * is typed, compared with what is printed. `json`: strict JSON, and after `<!-- output -->` what the block before it
 * printed. `yaml`: a policy, or a part of one. `text`: a diagram or a formula, without commands. What is not run is saved
 * for the commands after it where `<!-- file: PATH -->` stands before it. `ts`: a file of integrations/, whose tests run it, or a
 * part. `python`: a part of docs/integrations/python.md, which runs it.
 *
 * @param isStrict whether warnings of parts of policies are faults too, as on pages of codes, which name no files
 * @param runsCommands false leaves `sh`, `console` and what they print
 */
export async function faultsOf(page: string, { isStrict = false, runsCommands = true } = {}): Promise<Fault[]> {
  const { blocks, faults } = blocksOf(page)
  const policyFault = policyBlocks(isStrict)
  const steps: Step[] = []
  const outputs: { block: Block; json: Json; step: number }[] = []
  for (const [i, block] of blocks.entries()) {
    if (block.language === 'sh' || block.language === 'console') {
      const read = stepsOf(block)
      steps.push(...read.steps)
      faults.push(...read.faults)
      continue
    }
    const problem = isPolicyBlock(block) ? await policyFault(block) : quietFault(block)
    if (!isStrict) faults.push(...unnamedFile(block))
    if (problem !== undefined) faults.push({ line: block.line, problem })
    else if (block.file !== undefined) steps.push(saveStep(block, block.file))
    else if (block.isOutput) {
      const before = blocks[i - 1]?.language
      if (block.language !== 'json' || (before !== 'sh' && before !== 'console'))
        faults.push({ line: block.line, problem: 'output is JSON right after commands' })
      else outputs.push({ block, json: jsonOf(block.lines.join('\n')), step: steps.length - 1 })
    }
  }
  if (!runsCommands) return faults.sort(byLine)
  // Files that no command reads need not be written.
  const hasCommands = blocks.some(({ language }) => language === 'sh' || language === 'console')
  const ran = hasCommands ? await runSteps(steps) : []
  if (hasCommands) faults.push(...steps.flatMap((step, i) => stepFault(step, ran[i]) ?? []))
  for (const { block, json, step } of outputs) {
    const problem = outputFault(json, ran[step]?.output)
    if (problem !== undefined) faults.push({ line: block.line, problem })
  }
  return faults.sort(byLine)
}

function byLine(a: Fault, b: Fault): number {
  return a.line - b.line
}

/** A reader sees no mark: the text has to say under which name to save the block. */
function unnamedFile({ file, above, line }: Block): Fault[] {
  const name = file?.split('/').slice(-2).join('/') ?? ''
  return above.includes(name) ? [] : [{ line, problem: `the paragraph above does not name ${file}` }]
}

/** The fault of a block that is not run. */
function quietFault({ language, lines }: Block): string | undefined {
  const run = RUN_ELSEWHERE[language]
  if (run !== undefined) {
    // A comment that is only `…` stands for lines that are left out.
    const part = ['…', ...lines.map((line) => line.replace(/^\s*(?:\/\/|#) …$/, '…')), '…'].join('\n')
    return run.texts().some((text) => matchesText(part, text))
      ? undefined
      : `${run.where} does not have this block, so nothing runs it`
  }
  if (language === 'json') {
    const json = lines.join('\n')
    return faultless(() => jsonOf(json))
  }
  if (language !== 'text') return `no rule covers a block of language ${JSON.stringify(language)}`
  const command = lines.find((line) => COMMAND.test(line))
  return command === undefined ? undefined : `${JSON.stringify(command)} is a command; make the block sh or console`
}

function jsonOf(text: string): Json {
  return parseJson(Buffer.from(text), { maxDepth: 64 })
}

function faultless(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof GateError) return `no strict JSON: ${error.message}`
    throw error
  }
}

function stepFault({ line, expected, mustSucceed }: Step, ran: StepResult | undefined): Fault | undefined {
  if (ran === undefined) return { line, problem: 'was not reached' }
  if (ran.code === undefined) return { line, problem: `failed:\n${ran.output}` }
  if (expected !== undefined && !matchesText(expected, ran.output)) return { line, problem: `printed:\n${ran.output}` }
  if (mustSucceed && ran.code !== 0) return { line, problem: `ended with ${ran.code}, which the page does not show` }
  return undefined
}

function outputFault(expected: Json, output: string | undefined): string | undefined {
  if (output === undefined) return 'what it shows was not reached'
  const unreadable = faultless(() => jsonOf(output))
  if (unreadable !== undefined) return `what was printed is ${unreadable}\n${output}`
  const difference = jsonDifference(expected, jsonOf(output))
  return difference === undefined ? undefined : `${difference}; printed:\n${output}`
}
