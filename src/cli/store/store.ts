import { resolve } from 'node:path'
import { addressOf } from '../../service/store.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { type CommonOptions, configOf, UsageError } from '../context.ts'
import { print } from '../output.ts'
import { addStoreCopyCommand } from './copy.ts'

export function addStoreCommands(program: GateCommand): void {
  const store = program.command('store').description('prepare the PostgreSQL database of a fleet, and move trails')
  addCommonOptions(store.command('migrate'), 'data')
    .description('bring the schema of the database up to date, forward only; the service never does')
    .notes(`
Run it as a role that may create schemas and tables, once for each new version, before the first sidecar of that version
starts. It waits while another one migrates, and does nothing where nothing is missing.`)
    .example('store migrate --store postgres://owner@db.internal/gate --store-password /run/secrets/owner-password')
    .action(migrate)
  addStoreCopyCommand(store)
}

async function migrate(options: CommonOptions): Promise<void> {
  const config = configOf(options)
  const address = addressOf(config)
  if (address === undefined)
    throw new UsageError(
      `Name the database with --store; a data file such as in ${resolve(config.data)} needs no command.`,
    )
  const { migrateServer } = await import('../../store/postgres/store.ts')
  const { from, to } = await migrateServer(address)
  print(options, { from, to }, () => [
    from === to ? `The schema is up to date (${to}).` : `The schema was brought from ${from} to ${to}.`,
  ])
}
