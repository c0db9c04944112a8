import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import express from 'express'
import type { Target } from './cerbos.ts'
import { cpuMs, start } from './processes.ts'

/**
 * The least a server can do with our question: read the body, parse it, answer as much JSON as a
 * decision. With node:http it is the ceiling of the load generator, and with Express what Express costs.
 */
const ANSWER = { success: true, data: { decision: 'allow', reason: 'x'.repeat(60), riskScore: 6, rule: 'eurozone' } }

export type BareKind = 'node:http' | 'express'

export async function startBare(kind: BareKind): Promise<Target> {
  const server = await start(process.execPath, ['--import', 'tsx', fileURLToPath(import.meta.url), kind], (line) =>
    line.startsWith('http') ? line : undefined,
  )
  const question = { path: '/bare', headers: {}, body: JSON.stringify({ text: 'x'.repeat(400) }), expected: 'allow' }
  const stop = async () => {
    await server.stop()
    return 0
  }
  return { name: kind, url: server.found, question, cpuMs: () => cpuMs(server.process), stop }
}

function plainServer(): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString())
      const body = JSON.stringify(ANSWER)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      response.end(body)
    })
  })
}

function expressServer(): Server {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(express.json())
  app.post('/bare', (_request, response) => {
    response.json(ANSWER)
  })
  return createServer(app)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = process.argv[2] === 'express' ? expressServer() : plainServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address === 'object' && address !== null) console.log(`http://127.0.0.1:${address.port}`)
}
