import type { GateCommand } from '../command.ts'
import { addAuditExportCommand } from './export.ts'
import { addAuditListCommand } from './list.ts'
import { addAuditLogCommand } from './log.ts'
import { addAuditPruneCommand } from './prune.ts'
import { addAuditRedactCommand } from './redact.ts'
import { addAuditRestoreCommand } from './restore.ts'
import { addAuditTailCommand } from './tail.ts'
import { addAuditVerifyCommand } from './verify.ts'

export function addAuditCommands(program: GateCommand): void {
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
