import type { Command } from 'commander'
import { ensureTenant, setPlan } from '../actions/keys/tenants.ts'
import { isPlan, PLANS } from '../keys/plan.ts'
import {
  addCommonOptions,
  assertTenant,
  type CommonOptions,
  configOf,
  hostActor,
  UsageError,
  withStore,
} from './context.ts'
import { print, table } from './output.ts'

export function addTenantCommands(program: Command): void {
  const tenants = program.command('tenants').description('make and list tenants, and set their plan')
  addCommonOptions(tenants.command('create <id>'), { data: true })
    .description('make a tenant; does nothing when there is one')
    .addHelpText('after', '\nExample:\n  gate-sidecar tenants create acme')
    .action(async (id: string, options: CommonOptions) => {
      const tenant = await withStore(configOf(options), { create: true }, (deps) => ensureTenant(deps, hostActor(), id))
      print(options, tenant, () => [`${tenant.id} (${tenant.plan})`])
    })
  addCommonOptions(tenants.command('list'), { data: true })
    .description('list tenants')
    .addHelpText('after', '\nExample:\n  gate-sidecar tenants list --json')
    .action(async (options: CommonOptions) => {
      const all = await withStore(configOf(options), {}, async ({ store }) => [...store.state().tenants.values()])
      print(options, all, () =>
        table(
          ['TENANT', 'PLAN', 'CREATED'],
          all.map(({ id, plan, createdAt }) => [id, plan, createdAt]),
        ),
      )
    })
  addCommonOptions(tenants.command('set-plan <id> <plan>'), { data: true })
    .description(`set the rate limit of a tenant: ${Object.keys(PLANS).join(', ')}`)
    .addHelpText('after', '\nExample:\n  gate-sidecar tenants set-plan acme pro')
    .action(async (id: string, plan: string, options: CommonOptions) => {
      if (!isPlan(plan)) throw new UsageError(`${plan} is not a plan; there are ${Object.keys(PLANS).join(', ')}.`)
      const tenant = await withStore(configOf(options), {}, async (deps) => {
        assertTenant(deps, id)
        return setPlan(deps, hostActor(), id, plan)
      })
      print(options, tenant, () => [`${tenant.id} now has the plan ${tenant.plan}.`])
    })
}
