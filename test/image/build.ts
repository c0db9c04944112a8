import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { argumentsOf, contextOf, type Instruction, pairs, parseDockerfile, refusal, type Stage } from './dockerfile.ts'

/** Image that an engine would make of the last stage, in a folder that stands for the root of its paths. */
export interface Image {
  root: string
  workdir: string
  env: Record<string, string>
  user: string
  volume: string
  stopSignal: string
  entrypoint: string[]
  cmd: string[]
  health: string[]
}

export interface BuildOptions {
  /** The checkout. */
  context: string
  dockerfile: string
  dockerignore: string
  /** An empty folder; each stage has its own in it. */
  dir: string
  /** Folder with `bin/node` and `include/node`: what the base images have in /usr/local. */
  node: string
  /** For the commands of RUN, beside what the image sets: where npm is, the user's configuration of it. */
  env: Record<string, string | undefined>
}

/** A stage while it is made. */
interface Making {
  image: Image
  options: BuildOptions
  /** Roots of the stages before, by name. */
  stages: ReadonlyMap<string, string>
}

type Step = (making: Making, instruction: Instruction) => void

const STEPS: Record<string, Step> = {
  LABEL: (_, instruction) => void pairs(instruction),
  EXPOSE: () => undefined,
  ENV: ({ image }, instruction) => void Object.assign(image.env, pairs(instruction)),
  WORKDIR: ({ image }, { rest }) => {
    image.workdir = posix.resolve(image.workdir, rest)
    mkdirSync(image.root + image.workdir, { recursive: true })
  },
  COPY: copy,
  RUN: run,
  USER: ({ image }, { rest }) => void Object.assign(image, { user: rest }),
  VOLUME: ({ image }, { rest }) => void Object.assign(image, { volume: rest }),
  STOPSIGNAL: ({ image }, { rest }) => void Object.assign(image, { stopSignal: rest }),
  ENTRYPOINT: ({ image }, instruction) => void Object.assign(image, { entrypoint: argumentsOf(instruction) }),
  CMD: ({ image }, instruction) => void Object.assign(image, { cmd: argumentsOf(instruction) }),
  HEALTHCHECK: ({ image }, instruction) => {
    const [, command] = /^(?:--(?:interval|timeout|start-period)=\d+s )*CMD (.*)$/.exec(instruction.rest) ?? []
    if (command === undefined) throw refusal(instruction, 'expected options and CMD')
    image.health = argumentsOf(instruction, command)
  },
}

/** Does what the Dockerfile says, without an engine. @throws Error for what it could not do as an engine would */
export function buildImage(options: BuildOptions): Image {
  const stages = new Map<string, string>()
  let last: Image | undefined
  for (const [i, stage] of parseDockerfile(options.dockerfile).entries()) {
    last = buildStage(options, stages, stage, join(options.dir, `stage-${i}`))
    if (stage.name !== undefined) stages.set(stage.name, last.root)
  }
  if (last === undefined) throw new Error('the Dockerfile has no FROM')
  return last
}

function buildStage(options: BuildOptions, stages: ReadonlyMap<string, string>, stage: Stage, root: string): Image {
  startFrom(options.node, root)
  const texts = { root, workdir: '/', user: 'root', volume: '', stopSignal: '' }
  const image: Image = { ...texts, env: {}, entrypoint: [], cmd: [], health: [] }
  for (const instruction of stage.instructions) {
    const step = STEPS[instruction.word]
    if (step === undefined) throw refusal(instruction, 'the instruction is not replayed')
    step({ image, options, stages }, instruction)
  }
  return image
}

/** As much of a base image as is asked of it. npm is that of the machine. */
function startFrom(node: string, root: string): void {
  const local = join(root, 'usr/local')
  mkdirSync(join(local, 'bin'), { recursive: true })
  symlinkSync(join(node, 'bin/node'), join(local, 'bin/node'))
  // Linked file by file: a file that is edited in one stage becomes its own.
  execFileSync('cp', ['-al', join(node, 'include'), local])
  // Only root may give files away. Who is not has them all anyway.
  if (process.getuid?.() !== 0) writeFileSync(join(local, 'bin/chown'), '#!/bin/sh\n', { mode: 0o755 })
}

function copy(making: Making, instruction: Instruction): void {
  const { image } = making
  assertRoot(image, instruction)
  const [first = '', ...others] = instruction.rest.split(/\s+/)
  const from = first.startsWith('--from=') ? first.slice('--from='.length) : undefined
  const paths = from === undefined ? [first, ...others] : others
  const to = paths.pop()
  if (to === undefined || paths.length === 0 || paths.some((path) => /^--|[*?[$"]/.test(path)))
    throw refusal(instruction, 'expected [--from=NAME] SOURCE… TARGET')
  for (const path of paths) {
    const source = sourceOf(making, instruction, from, path)
    const target = image.root + posix.resolve(image.workdir, to)
    const isFolder = statSync(source).isDirectory()
    // The content of a folder is copied; a file goes into a folder when the target ends like one.
    cpSync(source, isFolder || !/(^|\/)\.?$/.test(to) ? target : join(target, basename(path)), {
      recursive: true,
      verbatimSymlinks: true,
    })
  }
}

function sourceOf({ options, stages }: Making, instruction: Instruction, from: string | undefined, path: string) {
  if (from !== undefined) {
    const root = stages.get(from)
    if (root === undefined) throw refusal(instruction, `there is no stage ${from} before`)
    return join(root, path)
  }
  if (!contextOf(options.dockerignore).includes(path)) throw refusal(instruction, `.dockerignore keeps ${path} out`)
  return join(options.context, path)
}

function run({ image, options }: Making, instruction: Instruction): void {
  assertRoot(image, instruction)
  const { root, workdir } = image
  const env = { ...options.env, ...environmentOf(image), PATH: `${root}/usr/local/bin:${options.env.PATH}` }

  execFileSync('/bin/sh', ['-c', underRoot(root, instruction.rest)], {
    cwd: root + workdir,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  })
}

function assertRoot({ user }: Image, instruction: Instruction): void {
  if (user !== 'root') throw refusal(instruction, 'it stands after USER, and is not replayed as another user')
}

/** The variables that the image sets. */
export function environmentOf({ root, env }: Pick<Image, 'root' | 'env'>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, underRoot(root, value)]))
}

/** Absolute paths in a command or a value, where they are in the replay. */
function underRoot(root: string, text: string): string {
  return text.replace(/(?<=^|[\s="'])\/(?=\w)/g, `${root}/`)
}

/** Takes the right to write from every file and folder but those under `except`, or gives it back to the owner. */
export function setReadOnly({ root }: Image, except: string, on: boolean): void {
  const prune = ['-path', root + except, '-prune', '-o', '!', '-type', 'l']
  execFileSync('find', [root, ...prune, '-exec', 'chmod', on ? 'a-w' : 'u+w', '{}', '+'])
  if (!on) chmodSync(root, 0o755)
}
