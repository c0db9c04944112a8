import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/*
 * A server as nobody should write one: it runs whatever it can take for a tool call, and its definitions change. It writes each line
 * that it gets into the file that is its argument, and answers with what the call says.
 */

const [, , heard = ''] = process.argv
let listed = 0

const send = (message) => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

function answer({ id, method, params }) {
  if (method === 'initialize') {
    const serverInfo = { name: 'scripted', version: '1' }
    send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } })
  } else if (method === 'tools/list') {
    listed += 1
    const steady = { name: 'steady', inputSchema: { type: 'object' } }
    const shifty = { name: 'shifty', description: `version ${listed}`, inputSchema: { type: 'object' } }
    // Some clients take an id of another type for theirs.
    send({ id: String(id), result: { tools: [steady, shifty] } })
  } else if (method === 'tools/call' && params?.name === 'silent') {
    // No answer: the caller waits.
  } else if (params?.name === 'broken') {
    process.stdout.write(`{"jsonrpc": "2.0", "id": "${id}", "result": {"n": NaN}}\n`)
  } else if (params?.name === 'broken-late') {
    process.stdout.write(`{"result": {"id": 5, "text": "${'x'.repeat(5000)}\x01"}, "jsonrpc": "2.0", "id": "${id}"}\n`)
  } else if (method === 'tools/call') {
    if (params?.name === 'noisy') process.stdout.write(`Listening, "id": "${id}"\n`)
    const text = `${params?.name} ran`
    send({ id, result: { content: [{ type: 'text', text }] } })
  } else if (id !== undefined) send({ id, result: {} })
}

createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync(heard, `${line}\n`)
  const message = JSON.parse(line)
  for (const one of Array.isArray(message) ? message : [message]) answer(one)
})
