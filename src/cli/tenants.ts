import { assertTenantId, ensureTenant, setPlan } from '../actions/keys/tenants.ts'
import { isPlan, PLANS } from '../keys/plan.ts'
import { addCommonOptions, type GateCommand } from './command.ts'
import { type CommonOptions, hostActor, UsageError } from './context.ts'
import { assertTenant, withStore } from './data-file.ts'
import { print, table } from './output.ts'

export function addTenantCommands(program: GateCommand): void {
  const tenants = program.command('tenants').description('create and list tenants, and set their plan')
  addCommonOptions(tenants.command('create <id>'), 'data')
    .description('create a tenant; do nothing if it exists')
    .example('tenants create acme')
    .action(async (id: string, options: CommonOptions) => {
      // A refused id must not leave a data file behind.
      assertTenantId(id)
      const tenant = await withStore(options, (deps) => ensureTenant(deps, hostActor(), id), { create: true })
      print(options, tenant, () => [`${tenant.id} (${tenant.plan})`])
    })
  addCommonOptions(tenants.command('list'), 'data')
    .description('list tenants')
    .example('tenants list --json')
    .action(async (options: CommonOptions) => {
      const all = await withStore(options, async ({ store }) => [...store.state().tenants.values()])
      print(options, all, () =>
        table(
          ['TENANT', 'PLAN', 'CREATED'],
          all.map(({ id, plan, createdAt }) => [id, plan, createdAt]),
        ),
      )
    })
  addCommonOptions(tenants.command('set-plan <id> <plan>'), 'data')
    .description(`set the plan of a tenant, which sets its rate limit: ${Object.keys(PLANS).join(', ')}`)
    .example('tenants set-plan acme pro')
    .action(async (id: string, plan: string, options: CommonOptions) => {
      if (!isPlan(plan)) throw new UsageError(`${plan} is not a plan; choose one of ${Object.keys(PLANS).join(', ')}.`)
      const tenant = await withStore(options, async (deps) => {
        assertTenant(deps, id)
        return setPlan(deps, hostActor(), id, plan)
      })
      print(options, tenant, () => [`${tenant.id} now has the plan ${tenant.plan}.`])
    })
}
