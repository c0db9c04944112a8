import type { Command } from 'commander'
import { addAuditExportCommand } from './audit-export.ts'
import { addAuditListCommand } from './audit-list.ts'
import { addAuditLogCommand } from './audit-log.ts'
import { addAuditPruneCommand } from './audit-prune.ts'
import { addAuditRedactCommand } from './audit-redact.ts'
import { addAuditRestoreCommand } from './audit-restore.ts'
import { addAuditTailCommand } from './audit-tail.ts'
import { addAuditVerifyCommand } from './audit-verify.ts'

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('read, write and verify the audit trail')
  addAuditListCommand(audit)
  addAuditTailCommand(audit)
  addAuditLogCommand(audit)
  addAuditVerifyCommand(audit)
  addAuditExportCommand(audit)
  addAuditRedactCommand(audit)
  addAuditPruneCommand(audit)
  addAuditRestoreCommand(audit)
}
