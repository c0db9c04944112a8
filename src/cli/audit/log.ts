import { LogRequest, logEntry } from '../../actions/audit/audit.ts'
import { parserOf } from '../../base/schema.ts'
import { ROUTES } from '../../keys/routes.ts'
import { addKeyOptions, type KeyOptions, withCaller } from '../caller.ts'
import type { GateCommand } from '../command.ts'
import { given, objectOf } from '../context.ts'
import { print } from '../output.ts'

const parseLog = parserOf(LogRequest)

export function addAuditLogCommand(audit: GateCommand): void {
  addKeyOptions(audit.command('log'))
    .description('write an audit entry as the holder of the key')
    .requiredOption('--type <type>', 'event type, such as report.sent; the types of the service are reserved')
    .requiredOption('--event-data <json>', 'content of the entry, a JSON object')
    .option('--user-id <name>', 'user on whose behalf the key acts; recorded as a claim')
    .example(`audit log --type report.sent --event-data '{"report": "q3"}' --user-id ann`)
    .action(log)
}

async function log(options: KeyOptions & { type: string; eventData: string; userId?: string }): Promise<void> {
  const { type: eventType, userId } = options
  const data = objectOf('--event-data', options.eventData)
  const request = parseLog(given({ eventType, data: data ?? null, userId }))
  const entry = await withCaller(options, ROUTES.auditLog, async (deps, caller) => logEntry(deps, caller, request))
  print(options, entry, () => [`${entry.id} is entry ${entry.seq} of the chain.`])
}
