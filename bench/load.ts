import { Buffer } from 'node:buffer'
import { connect, type Socket } from 'node:net'
import type { Question } from './payment.ts'
import { quantile, round } from './stats.ts'

export interface LoadOptions {
  url: string
  question: Question
  connections: number
  warmUpMs: number
  durationMs: number
}

export interface LoadResult {
  requests: number
  requestsWithWarmUp: number
  /** Processor time of the load itself, start of its process included. */
  loadCpuMs: number
  perSecond: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
  maxMs: number
  /** Answers that were not 200 or not the expected decision, and connections that were lost. */
  errors: number
  firstError: string | null
}

/**
 * Closed loop: each connection sends its next request when the answer to the last one is complete.
 * Raw sockets, since an HTTP client costs more than some of the servers. Every answer is checked.
 */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const run = newRun(options)
  const loops = Array.from({ length: options.connections }, () => keepAsking(run))
  await Promise.all(loops)
  return summary(run, options.durationMs)
}

interface Run {
  url: URL
  request: Buffer
  expected: string
  measureFrom: number
  until: number
  latencies: number[]
  answers: number
  errors: number
  firstError: string | null
}

function newRun({ url, question, warmUpMs, durationMs }: LoadOptions): Run {
  const target = new URL(url)
  const headers = {
    host: target.host,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(question.body)),
    ...question.headers,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const measureFrom = performance.now() + warmUpMs
  return {
    url: target,
    request: Buffer.from(`POST ${question.path} HTTP/1.1\r\n${lines.join('')}\r\n${question.body}`),
    expected: question.expected,
    measureFrom,
    until: measureFrom + durationMs,
    latencies: [],
    answers: 0,
    errors: 0,
    firstError: null,
  }
}

// A lost connection is an error and is opened again, so that one failure does not end the load.
async function keepAsking(run: Run): Promise<void> {
  while (performance.now() < run.until) {
    const lost = await askUntilLost(run)
    if (lost !== undefined) {
      fault(run, lost)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

function askUntilLost(run: Run): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: run.url.hostname, port: Number(run.url.port), noDelay: true })
    let received = ''
    let sentAt = 0
    const end = (why?: string) => {
      socket.destroy()
      resolve(why)
    }
    const ask = () => {
      received = ''
      sentAt = performance.now()
      socket.write(run.request)
    }
    socket.setTimeout(5000, () => end('no answer in 5 s'))
    socket.on('connect', ask)
    socket.on('error', (error) => end(error.message))
    socket.on('close', () => end('the server closed the connection'))
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
      if (!isComplete(received)) return
      note(run, received, sentAt)
      if (performance.now() < run.until) ask()
      else finish(socket, end)
    })
  })
}

function finish(socket: Socket, end: () => void): void {
  socket.removeAllListeners('close')
  end()
}

/** Answers have a Content-Length or are chunked; only one is under way on a connection. */
function isComplete(received: string): boolean {
  const headersEnd = received.indexOf('\r\n\r\n')
  if (headersEnd < 0) return false
  const length = /\r\ncontent-length: *([0-9]+)/i.exec(received)?.[1]
  if (length === undefined) return received.endsWith('\r\n0\r\n\r\n')
  return received.length >= headersEnd + 4 + Number(length)
}

function note(run: Run, received: string, sentAt: number): void {
  const now = performance.now()
  run.answers += 1
  if (!received.startsWith('HTTP/1.1 200') || !received.includes(run.expected)) fault(run, received.slice(0, 600))
  if (sentAt >= run.measureFrom && now <= run.until) run.latencies.push(now - sentAt)
}

function fault(run: Run, what: string): void {
  run.errors += 1
  run.firstError ??= what
}

function summary(run: Run, durationMs: number): LoadResult {
  const sorted = Float64Array.from(run.latencies).sort()
  return {
    requests: sorted.length,
    requestsWithWarmUp: run.answers,
    loadCpuMs: (process.cpuUsage().user + process.cpuUsage().system) / 1000,
    perSecond: Math.round((sorted.length * 1000) / durationMs),
    p50Ms: round(quantile(sorted, 0.5)),
    p95Ms: round(quantile(sorted, 0.95)),
    p99Ms: round(quantile(sorted, 0.99)),
    maxMs: round(quantile(sorted, 1)),
    errors: run.errors,
    firstError: run.firstError,
  }
}
