/** One instruction, its lines joined. */
export interface Instruction {
  word: string
  rest: string
  /** Line of the file on which it starts, from 1. */
  line: number
}

export interface Stage {
  name: string | undefined
  base: string
  instructions: Instruction[]
}

/** Instructions that a replay of the file can run. Any other is refused, so that none is passed over. */
export const KNOWN = [
  ...['FROM', 'LABEL', 'WORKDIR', 'ENV', 'COPY', 'RUN', 'USER', 'VOLUME', 'EXPOSE', 'HEALTHCHECK', 'STOPSIGNAL'],
  ...['ENTRYPOINT', 'CMD'],
]

/** @throws Error with the line, for an instruction that is not known */
export function parseDockerfile(text: string): Stage[] {
  const stages: Stage[] = []
  for (const instruction of instructionsIn(text)) {
    const { word, rest } = instruction
    if (!KNOWN.includes(word)) throw refusal(instruction, 'the instruction is not known here')
    const last = stages.at(-1)
    if (word !== 'FROM') {
      if (last === undefined) throw refusal(instruction, 'it stands before FROM')
      last.instructions.push(instruction)
      continue
    }
    const from = /^(?<base>[\w./:-]+)(?: AS (?<name>\w+))?$/.exec(rest)?.groups
    if (from?.base === undefined) throw refusal(instruction, 'expected `image` or `image AS name`')
    stages.push({ name: from.name, base: from.base, instructions: [] })
  }
  return stages
}

/** Comments end nothing: they may stand between the lines of an instruction. */
function instructionsIn(text: string): Instruction[] {
  const found: Instruction[] = []
  let open: { text: string; line: number } | undefined
  for (const [i, full] of text.split('\n').entries()) {
    const line = full.trim()
    if (line === '' || line.startsWith('#')) continue
    const continued = line.endsWith('\\')
    const part = continued ? line.slice(0, -1).trim() : line
    open = open === undefined ? { text: part, line: i + 1 } : { ...open, text: `${open.text} ${part}` }
    if (continued) continue
    const [word = '', ...rest] = open.text.split(' ')
    found.push({ word, rest: rest.join(' ').trim(), line: open.line })
    open = undefined
  }
  if (open !== undefined) throw new Error(`Dockerfile line ${open.line}: the instruction does not end`)
  return found
}

/** `a=1 b="two words"` as an object. */
export function pairs(instruction: Instruction): Record<string, string> {
  const one = /(\S+?)=(?:"([^"$\\]*)"|([^\s"'$\\]+))(?:\s+|$)/y
  const found: Record<string, string> = {}
  while (one.lastIndex < instruction.rest.length) {
    const [, name, quoted, plain] = one.exec(instruction.rest) ?? []
    if (name === undefined) throw refusal(instruction, 'expected name=value, without $, quotes within, or escapes')
    found[name] = quoted ?? plain ?? ''
  }
  return found
}

/** `["a", "b"]`; a command that a shell would read is refused. */
export function argumentsOf(instruction: Instruction, text = instruction.rest): string[] {
  const refused = refusal(instruction, 'expected a JSON list of texts')
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw refused
  }
  if (!Array.isArray(parsed) || !parsed.every((part) => typeof part === 'string') || parsed.length === 0) throw refused
  return parsed
}

export function refusal({ word, rest, line }: Instruction, why: string): Error {
  return new Error(`Dockerfile line ${line}, ${word} ${rest.slice(0, 60)}: ${why}`)
}

/**
 * Returns the names that .dockerignore lets into the build. It must have the form that keeps everything else out.
 *
 * @throws Error for a pattern of another form
 */
export function contextOf(dockerignore: string): string[] {
  const [all, ...kept] = dockerignore.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const other = kept.find((line) => !/^![\w.-]+$/.test(line))
  if (all !== '*' || other !== undefined)
    throw new Error(`.dockerignore: expected * and then !NAME, found ${other ?? all}`)
  return kept.map((line) => line.slice(1))
}
