import type { GateCommand } from './command.ts'
import { addGateOptions, type GateClientOptions, gateClient } from './gate-client.ts'
import { paint, print } from './output.ts'

const TIMEOUT_MS = 10_000
const WARNING =
  'The link signs in with the rights of your key. Do not share it: the first person to open it is signed in.'

export function addConsoleCommand(program: GateCommand): void {
  addGateOptions(program.command('console'))
    .option('--json', 'print JSON')
    .description('print a link that signs a browser in to the web console; it works once, within five minutes')
    .example('console --tenant acme')
    .action(async (options: GateClientOptions & { json?: boolean }) => {
      const link = await gateClient(options, { timeout: TIMEOUT_MS }).sessions.signInLink()
      print(options, link, () => [link.url, [paint('dim', WARNING)]])
    })
}
