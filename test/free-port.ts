import { createServer } from 'node:net'

/** Ports below those that the system gives to connections and to servers that ask for any: nobody takes one meanwhile. */
const [FIRST, PORTS] = [16_000, 14_000]

/** A port that nothing listens on now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * PORTS)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
