import { Option } from 'commander'
import { ApproveRequest, approve, listApprovals, RejectRequest, reject } from '../../actions/approvals/approvals.ts'
import { cancelApproval } from '../../actions/approvals/cancel-approval.ts'
import { type Reader, viewFor, visibleApproval } from '../../actions/approvals/visible-approvals.ts'
import type { Caller, Deps } from '../../actions/deps.ts'
import { APPROVAL_STATUSES, type Approval, type ApprovalStatus } from '../../approvals/approval.ts'
import type { ApprovalView } from '../../approvals/view.ts'
import { chainOf } from '../../audit/chain.ts'
import type { Environment } from '../../base/environment.ts'
import { GateError } from '../../base/errors.ts'
import { parserOf } from '../../base/schema.ts'
import { ROUTES } from '../../keys/routes.ts'
import { addKeyOptions, type KeyOptions, withCaller, withReader } from '../caller.ts'
import type { GateCommand } from '../command.ts'
import { CannotRun, environmentOption, given, limitOption, UsageError } from '../context.ts'
import { assertTenant } from '../data-file.ts'
import { print } from '../output.ts'
import { approvalLines, approvalTable, votesGiven } from './lines.ts'

interface ListOptions extends KeyOptions {
  environment?: Environment
  status: ApprovalStatus
  limit: number
}

interface VoteOptions extends KeyOptions {
  approverId?: string
  comment?: string
  reason?: string
}

const parseApprove = parserOf(ApproveRequest)
const parseReject = parserOf(RejectRequest)
const EXAMPLE_ID = 'apr_01hzy3v4q2m8k7t6r5w4x3y2z1'

export function addApprovalCommands(program: GateCommand): void {
  const approvals = program.command('approvals').description('list and decide held requests')
  addKeyOptions(approvals.command('list'), 'the tenant; required without a key')
    .description('list approvals, earliest deadline first; without a key, all approvals of the tenant')
    // A key belongs to one of the two environments.
    .addOption(environmentOption().default(undefined, "the key's, else live"))
    .addOption(
      new Option('--status <status>', 'only approvals with this status').choices(APPROVAL_STATUSES).default('pending'),
    )
    .addOption(limitOption(50, 1000))
    .example('approvals list --tenant acme --status approved')
    .action(list)
  addKeyOptions(approvals.command('show <id>'))
    .description('show an approval in full: request, reason, risk, votes and what the approval binds')
    .example(`approvals show ${EXAMPLE_ID}`)
    .action(show)
  addVoteOptions(approvals.command('approve <id>'))
    .description('vote to approve a held request; a running server applies the vote at once')
    .option('--comment <text>', 'reason for the vote')
    .example(`approvals approve ${EXAMPLE_ID} --comment "the invoice is here"`)
    .action(approveOne)
  addVoteOptions(approvals.command('reject <id>'))
    .description('reject a held request; it is denied until the deadline of its approval')
    .option('--reason <text>', 'reason for the rejection')
    .example(`approvals reject ${EXAMPLE_ID} --reason "unknown recipient"`)
    .action(rejectOne)
  addKeyOptions(approvals.command('cancel <id>'))
    .description('cancel an unused approval, as its requester or as an approver')
    .example(`approvals cancel ${EXAMPLE_ID}`)
    .action(cancelOne)
}

function addVoteOptions(command: GateCommand): GateCommand {
  return addKeyOptions(command).option('--approver-id <name>', 'name of the approver (default: identity of the key)')
}

async function list(options: ListOptions): Promise<void> {
  const { status, limit } = options
  const { items, page } = await withReader(options, ROUTES.listApprovals, { check: 'all' }, (deps, caller) =>
    listApprovals(deps, listReader(deps, caller, options), { status, limit, offset: 0 }),
  )
  print(options, items, () => {
    if (items.length === 0) return [`No ${status} approvals.`]
    const more = page.total - items.length
    return [...approvalTable(items, Date.now()), ...(more > 0 ? [`and ${more} more; see --limit.`] : [])]
  })
}

function listReader(deps: Deps, caller: Caller | null, { tenant, environment }: ListOptions) {
  if (caller !== null) {
    if (environment !== undefined && environment !== caller.environment)
      throw new UsageError(
        `A ${caller.environment} key cannot read ${environment}; use a key of ${environment}, or leave out --environment.`,
      )
    return caller
  }
  if (tenant === undefined) throw new UsageError('Name the tenant with --tenant, or give a key with --key.')
  assertTenant(deps, tenant)
  return { chain: chainOf(tenant, environment ?? 'live'), key: null }
}

async function show(id: string, options: KeyOptions): Promise<void> {
  await withReader(options, ROUTES.getApproval, { check: 'allButApprovals' }, async (deps, caller) => {
    // A command without a key names no chain, so the chain of the approval applies.
    const chain = caller?.chain ?? (await deps.store.approval(id))?.chain ?? ''
    const reader = caller ?? { chain, key: null }
    const approval = await findApproval(deps, reader, id)
    const view = viewFor(deps, reader, approval)
    print(options, view, () => approvalLines(view, approval, deps.store.state().switches, deps.clock()))
  })
}

async function approveOne(id: string, options: VoteOptions): Promise<void> {
  const view = await withVoter(id, options, ROUTES.approve, (deps, caller) => {
    const { comment } = options
    return approve(deps, caller, id, parseApprove(given({ approverId: approverId(caller, options), comment })))
  })
  print(options, view, () => [
    view.status === 'approved'
      ? `${id} is approved: the same request, made again by ${view.requestedBy}, is allowed once.`
      : `${id} is ${view.status}: ${votesGiven(view)} of ${view.quorum} votes.`,
  ])
}

async function rejectOne(id: string, options: VoteOptions): Promise<void> {
  const view = await withVoter(id, options, ROUTES.reject, (deps, caller) => {
    const { reason } = options
    return reject(deps, caller, id, parseReject(given({ approverId: approverId(caller, options), reason })))
  })
  print(options, view, () => [`${id} is rejected: the same request is denied until ${view.expiresAt}.`])
}

async function cancelOne(id: string, options: KeyOptions): Promise<void> {
  // Read access suffices for withdrawing an approval.
  const view = await withVoter(id, options, ROUTES.getApproval, (deps, caller) => cancelApproval(deps, caller, id))
  print(options, view, () => [`${id} is cancelled: the same request needs a new approval.`])
}

function withVoter(
  id: string,
  options: KeyOptions,
  route: (typeof ROUTES)['approve' | 'reject' | 'getApproval'],
  work: (deps: Deps, caller: Caller) => Promise<ApprovalView>,
): Promise<ApprovalView> {
  return withCaller(options, route, async (deps, caller) => {
    await findApproval(deps, caller, id)
    return work(deps, caller)
  })
}

/** @throws CannotRun for an approval that is missing or hidden from the reader; GateError for an altered one */
async function findApproval(deps: Deps, reader: Reader, id: string): Promise<Approval> {
  try {
    return await visibleApproval(deps, reader, id)
  } catch (error) {
    if (error instanceof GateError && error.code === 'not_found')
      throw new CannotRun(`There is no such approval: ${id}. See \`gate-sidecar approvals list\`.`)
    throw error
  }
}

function approverId(caller: Caller, { approverId: given }: VoteOptions): string {
  const id = given ?? caller.key.identity
  if (id === null) throw new UsageError('This key has no identity; name the approver with --approver-id.')
  return id
}
