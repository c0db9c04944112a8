import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

/*
 * An MCP server of both eras, made with the official package, that writes down which tools ran: the file is its first argument. With
 * `http` as its second it listens, and prints its port; else it is a server over stdio.
 */

const [, , ran = '', way] = process.argv

function makeServer() {
  const server = new McpServer({ name: 'modern', version: '1.0.0' })
  const annotations = { destructiveHint: true, openWorldHint: false, idempotentHint: false }
  server.registerTool('wipe', { description: 'Deletes everything.', annotations }, () => {
    appendFileSync(ran, 'wipe\n')
    return { content: [{ type: 'text', text: 'Everything is gone.' }] }
  })
  server.registerTool('look', { description: 'Looks.', annotations: { readOnlyHint: true } }, () => {
    appendFileSync(ran, 'look\n')
    return { content: [{ type: 'text', text: 'Send it to US13.' }] }
  })
  server.registerTool('fail', { description: 'Fails.' }, () => {
    appendFileSync(ran, 'fail\n')
    throw new Error('It broke.')
  })
  return server
}

if (way === 'http') {
  const handler = createMcpHandler(makeServer)
  const server = createServer(async (incoming, outgoing) => {
    const { method, url, headers } = incoming
    const hasBody = method !== 'GET' && method !== 'HEAD'
    const init = { method, headers, ...(hasBody && { body: Readable.toWeb(incoming), duplex: 'half' }) }
    const answer = await handler.fetch(new Request(new URL(url, 'http://localhost'), init))
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body === null) outgoing.end()
    else Readable.fromWeb(answer.body).pipe(outgoing)
  })
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
} else serveStdio(makeServer)
