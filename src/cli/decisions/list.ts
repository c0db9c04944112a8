import { Option } from 'commander'
import { type DecisionFilter, listDecisions, MAX_LISTED } from '../../actions/decisions/list.ts'
import { chainOf } from '../../audit/chain.ts'
import type { Environment } from '../../base/environment.ts'
import { parseGlob } from '../../base/glob.ts'
import { DAY_MS } from '../../base/time.ts'
import { EFFECTS } from '../../policies/set.ts'
import { timeOf } from '../audit/list.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { type CommonOptions, environmentOption, limitOption, valueParser } from '../context.ts'
import { assertTenant, withStore } from '../data-file.ts'
import { type Cell, paint, print, table } from '../output.ts'
import { EFFECT_STYLE } from './explanation-lines.ts'

interface ListOptions extends CommonOptions, Omit<DecisionFilter, 'shadow'> {
  differs?: boolean
  tenant: string
  environment: Environment
  from?: string
  to?: string
  limit: number
}
type Listed = Awaited<ReturnType<typeof listDecisions>>['items'][number]

export function addListCommand(decisions: GateCommand): void {
  addCommonOptions(decisions.command('list'), 'data')
    .description('list the decisions of a tenant, newest first')
    .requiredOption('--tenant <id>', 'the tenant')
    .addOption(environmentOption())
    .option('--differs', 'only those that the set in shadow would have made otherwise')
    .addOption(new Option('--decision <decision>', 'only this decision').choices(EFFECTS))
    .option(
      '--action <glob>',
      'only actions that match, such as payment.*',
      valueParser(parseGlob, 'An action or a glob'),
    )
    .option('--rule <id>', 'only those that this rule decided')
    .option('--agent <name>', "only of this requester: its key's identity, else its key's id")
    .option('--session <name>', 'only of this session')
    .option('--from <time>', 'first day (YYYY-MM-DD, UTC) or time (RFC 3339)')
    .option('--to <time>', 'last day, or the time before which decisions are listed')
    .addOption(limitOption(50, MAX_LISTED))
    .example('decisions list --tenant acme --differs')
    .action(list)
}

async function list(options: ListOptions): Promise<void> {
  const { tenant, environment, limit, differs, decision, action, rule, agent, session } = options
  const query = {
    ...{ trail: chainOf(tenant, environment), from: timeOf('--from', options.from, 0) },
    to: timeOf('--to', options.to, DAY_MS),
    filter: { ...(differs && { shadow: 'differs' as const }), decision, action, rule, agent, session },
  }
  const found = await withStore(options, async (deps) => {
    assertTenant(deps, tenant)
    const items: Listed[] = []
    // One search looks at some thousands of entries.
    for (let before: string | undefined; items.length < limit; ) {
      const page = await listDecisions(deps, { ...query, before, limit: limit - items.length })
      items.push(...page.items)
      if (page.next === null) break
      before = page.next
    }
    return items
  })
  print(options, found, () =>
    found.length === 0
      ? ['No decision matches.']
      : table(['TIME', 'DECISION', 'SHADOW', 'ACTION', 'BY', 'AGENT', 'ID'], found.map(rowOf)),
  )
}

function rowOf({ timestamp, decision, observed, shadow, action, rule, decidedBy, agent, id }: Listed): Cell[] {
  const other = shadow !== undefined && 'decision' in shadow ? shadow.decision : null
  const effect = (name: typeof decision): Cell => (name === null ? '' : paint(EFFECT_STYLE[name], name))
  const shown = decision === null ? 'erased' : observed === undefined ? effect(decision) : `observed: ${observed}`
  return [timestamp, shown, effect(other), action ?? '', rule ?? decidedBy ?? '', agent ?? '', id]
}
