import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const PROBE_MS = 5

/** Asks over one connection that is kept. @returns the member `data` of the answer */
export function askerOf<T>(url: string, key: string, tenant: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return async (method: string, path: string, body?: object): Promise<T> => {
    const headers = { 'x-api-key': key, 'x-tenant-id': tenant, 'content-type': 'application/json' }
    const text = await answerOf(url + path, { method, agent, headers }, body)
    return (JSON.parse(text) as { data: T }).data
  }
}

function answerOf(
  url: string,
  options: { method: string; agent: Agent; headers?: Record<string, string> },
  body?: object,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const sending = request(url, options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve(text))
    })
    sending.on('error', reject)
    sending.end(body && JSON.stringify(body))
  })
}

/** Asks for the health again and again. @returns ends it, and tells the longest time in milliseconds */
export function probing(url: string): () => Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let going = true
  const run = async (): Promise<number> => {
    let longest = 0
    while (going) {
      const asked = performance.now()
      await answerOf(`${url}/healthz`, { method: 'GET', agent })
      longest = Math.max(longest, performance.now() - asked)
      await sleep(PROBE_MS)
    }
    agent.destroy()
    return longest
  }
  const done = run()
  return () => {
    going = false
    return done
  }
}
