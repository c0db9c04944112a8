import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { once } from '../../src/base/memo.ts'
import { freePort } from '../free-port.ts'
import { temporaryFolder } from '../helpers.ts'
import type { Step } from './steps.ts'

const TREE = fileURLToPath(new URL('../../', import.meta.url))
/** The port that pages name. */
const SHOWN_PORT = '4283'
/** Only for what hangs: beside other tests, a page took 260 s on a slow machine. */
const TIME_LIMIT_MS = 600_000
/** Between what a step prints and what the runner says of it. */
const MARK = '\x1e'

/** Result of a step; undefined when it was not reached. */
export interface StepResult {
  output: string
  /** Undefined when the shell ended in it. */
  code: number | undefined
}

const PRELUDE = `
set -euo pipefail
shopt -s expand_aliases
# The command as it is where it is installed.
PATH=$RUN/bin:$PATH
SERVICE_LOG=$RUN/service.log
# Input that never comes and never ends: what types on a terminal.
mkfifo "$RUN/input"
exec 9<>"$RUN/input"
code=0
start_service() {
  stop_service
  set -m
}
await_service() {
  set +m
  echo "$1" >"$RUN/service.pid"
  local since=$SECONDS
  for _ in $(seq 600); do
    if curl -fs -o "$RUN/health" "http://127.0.0.1:$GATE_SIDECAR_PORT/healthz" && grep -q listening "$SERVICE_LOG"; then
      # The banner of a demo follows that line or stands before it: the longer the start took, the longer that takes.
      local size=-1 quiet=$(((SECONDS - since) / 4))
      [ "$quiet" -gt 0 ] || quiet=0.3
      while [ "$size" != "$(stat -c %s "$SERVICE_LOG")" ]; do
        size=$(stat -c %s "$SERVICE_LOG")
        sleep "$quiet"
      done
      cat "$SERVICE_LOG"
      return
    fi
    kill -0 "$1" || break
    sleep 0.1
  done
  cat "$SERVICE_LOG"
  return 1
}
stop_service() {
  [ -e "$RUN/service.pid" ] || return 0
  local group
  group=$(cat "$RUN/service.pid")
  # What runs on a terminal of its own has a group of its own, and goes on when the terminal is closed.
  for child in $(pgrep -P "$group"); do kill -- "-$child" 2>/dev/null || true; done
  kill -- "-$group" || true
  wait "$group" || true
  # npm may end before what it started, which still writes its last line.
  while kill -0 -- "-$group" 2>/dev/null; do sleep 0.1; done
  rm "$RUN/service.pid"
}
trap stop_service EXIT
`

/**
 * Runs the steps of a page in one shell, in a copy of the tree of its own, on a port that nobody uses.
 *
 * @returns for each step what became of it
 */
export async function runSteps(steps: readonly Step[]): Promise<(StepResult | undefined)[]> {
  const dir = temporaryFolder()
  const copy = join(dir, 'gate-sidecar')
  copyTree(copy)
  const run = join(dir, 'run')
  mkdirSync(join(run, 'bin'), { recursive: true })
  symlinkSync(join(copy, 'bin', 'gate-sidecar.js'), join(run, 'bin', 'gate-sidecar'))
  const port = String(await freePort())
  for (const [i, { script }] of steps.entries()) {
    writeFileSync(join(run, `${i}.sh`), `${script.replaceAll(SHOWN_PORT, port)}\n`)
  }
  writeFileSync(join(run, 'main.sh'), [PRELUDE, ...steps.map(stepScript)].join('\n'))
  const output = await runShell(copy, run, port)
  return readOutput(output.replaceAll(port, SHOWN_PORT), steps.length)
}

/** In a block a failure ends the page. A transcript is typed in a shell as a reader has it: the next line may ask for the code. */
function stepScript({ expected }: Step, i: number): string {
  const begin = `printf '\\x1ebegin ${i}\\n'`
  const end = `printf '\\x1eend ${i} %s\\n' "$code"`
  const source = `source "$RUN/${i}.sh"`
  if (expected === undefined) return [begin, 'code=0', source, end].join('\n')
  const typed = ['set +e +o pipefail', '(exit "$code")', source, 'code=$?', 'set -e -o pipefail']
  return [begin, ...typed, end].join('\n')
}

/** Returns the files of a clone, less test/testdata, the folder with the most files, which only tests read. */
const copied = once(() => {
  const args = ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const listed = execFileSync('git', args, { cwd: TREE, encoding: 'utf8' }).split('\0')
  return listed.filter((path) => path !== '' && !path.startsWith('test/testdata/') && existsSync(join(TREE, path)))
})

function copyTree(copy: string): void {
  for (const path of copied()) {
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    cpSync(join(TREE, path), join(copy, path))
  }
  symlinkSync(join(TREE, 'node_modules'), join(copy, 'node_modules'))
  cpSync(join(TREE, 'dist'), join(copy, 'dist'), { recursive: true })
}

/** All that the shell prints. Through `cat`: a program may open /dev/stderr, which is possible for a pipe only. */
function runShell(cwd: string, run: string, port: string): Promise<string> {
  // Settings of whoever runs the tests are not those of the page; and a test runner inside one would run nothing.
  const inherited = Object.entries(process.env).filter(([name]) => !/^(GATE_SIDECAR_|NODE_TEST_)/.test(name))
  const env = { ...Object.fromEntries(inherited), RUN: run, GATE_SIDECAR_PORT: port, NO_COLOR: '1' }
  const shell = spawn('bash', ['--norc', '-c', 'bash --norc "$RUN/main.sh" 2>&1 | cat'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  let output = ''
  shell.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  const late = setTimeout(() => endGroups([shell.pid, servicePid(run)]), TIME_LIMIT_MS)
  return new Promise((resolve, reject) => {
    shell.once('error', reject)
    shell.once('close', () => {
      clearTimeout(late)
      resolve(output)
    })
  })
}

function servicePid(run: string): number | undefined {
  const file = join(run, 'service.pid')
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined
}

function endGroups(leaders: readonly (number | undefined)[]): void {
  for (const leader of leaders) {
    try {
      if (leader !== undefined) process.kill(-leader, 'SIGKILL')
    } catch (error) {
      // It has ended by itself meanwhile.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }
}

function readOutput(output: string, count: number): (StepResult | undefined)[] {
  const steps: (StepResult | undefined)[] = Array.from({ length: count }, () => undefined)
  for (const part of output.split(MARK)) {
    const [, word, step, code, text = ''] = /^(begin|end) (\d+) ?(\d*)\n([\s\S]*)$/.exec(part) ?? []
    if (word === 'begin') steps[Number(step)] = { output: text, code: undefined }
    const ran = steps[Number(step)]
    if (word === 'end' && ran !== undefined) ran.code = Number(code)
  }
  return steps
}
