import { existsSync } from 'node:fs'
import { revokeSigningKey, rotateLogKey } from '../../actions/evidence/signing-key-changes.ts'
import { ensureLogKey, noteKey, sealKeyFrom } from '../../actions/evidence/signing-keys.ts'
import { trustOf } from '../../actions/evidence/trust.ts'
import { formatTimestamp, parseRfc3339 } from '../../base/time.ts'
import { vkeyOf } from '../../evidence/note.ts'
import { trustFile } from '../../evidence/trust.ts'
import { writeDurably } from '../../files/rewrite.ts'
import { sealKeyText } from '../../files/seal-key.ts'
import { logKeyFileOf } from '../../service/store.ts'
import { isInUse, type SigningKey } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { CannotRun, type CommonOptions, hostActor, limitOption, UsageError } from '../context.ts'
import { withStore } from '../data-file.ts'
import { type Line, print, table, writeOut } from '../output.ts'
import { unreadableLines, writeReserve } from '../stop-reserve.ts'

export function addSigningKeyCommands(program: GateCommand): void {
  const keys = program.command('signing-keys').description('show, rotate and revoke the keys that sign evidence')
  addCommonOptions(keys.command('show'), 'data')
    .description('show the log key that verifiers pin, and earlier keys')
    .addOption(limitOption(10, 1000))
    .example('signing-keys show --data ./data')
    .action(show)
  addCommonOptions(keys.command('rotate'), 'data')
    .description('replace the log key with a new one; evidence of the old key stays valid')
    .example('signing-keys rotate --data ./data')
    .action(rotate)
  addCommonOptions(keys.command('revoke <id>'), 'data')
    .description('record that a key is compromised; rotate first if it is in use')
    .requiredOption('--since <time>', 'time of the compromise, RFC 3339')
    .example(`signing-keys revoke sha256:${'0'.repeat(64)} --since 2026-01-31T12:00:00Z`)
    .action(revoke)
  addCommonOptions(keys.command('export-trust'), 'data')
    .description('write the trust file that a verifier pins')
    .option('--out <file>', 'file to write (default: stdout)')
    .example('signing-keys export-trust --out trust.json')
    .action(exportTrust)
  addCommonOptions(keys.command('export-seal'), 'data')
    .description('write the seal key, with which a sidecar of a fleet appends without the log key')
    .requiredOption('--out <file>', 'file to write, for its owner alone')
    .example('signing-keys export-seal --out seal-key.json --store postgres://sidecar@db.internal/gate')
    .action(exportSeal)
}

function shownKey(store: Store, key: SigningKey) {
  const { id, purpose, publicKey, createdAt, retiredAt, revokedAt } = key
  const vkey = purpose === 'log' ? vkeyOf(noteKey(store, key)) : null
  return { id, purpose, status: statusOf(key), publicKey, vkey, createdAt, retiredAt, revokedAt }
}

/** A bundle key is created with its end. */
function statusOf(key: SigningKey): 'active' | 'retired' | 'revoked' {
  const { purpose, revokedAt, retiredAt } = key
  if (revokedAt !== null) return 'revoked'
  const isActive = purpose === 'log' ? isInUse(key) : (retiredAt ?? '') > formatTimestamp(Date.now())
  return isActive ? 'active' : 'retired'
}

async function show(options: CommonOptions & { limit: number }): Promise<void> {
  const keys = await withStore(options, async ({ store }) =>
    [...store.state().signingKeys.values()]
      .sort(
        (a, b) =>
          Number(isInUse(b)) - Number(isInUse(a)) ||
          Number(a.purpose === 'bundle') - Number(b.purpose === 'bundle') ||
          (a.createdAt < b.createdAt ? 1 : -1),
      )
      .slice(0, options.limit)
      .map((key) => shownKey(store, key)),
  )
  const [shown] = keys
  if (shown === undefined) throw new CannotRun('No key has signed yet; start the service once to make it.')
  print(options, keys, (): Line[] => [
    ...(shown.vkey === null ? [] : [`Pin this log key: ${shown.vkey}`]),
    ...table(
      ['PURPOSE', 'STATUS', 'CREATED', 'UNTIL', 'ID'],
      keys.map((key) => [key.purpose, key.status, key.createdAt, key.retiredAt ?? '', key.id]),
    ),
  ])
}

async function rotate(options: CommonOptions): Promise<void> {
  const rotation = await withStore(options, async (deps, config) => {
    // The new key cannot read stops that the reserve keeps under the old one.
    const unreadableStops = await writeReserve(deps, config)
    const rotated = await rotateLogKey(deps, logKeyFileOf(config), hostActor())
    return { from: shownKey(deps.store, rotated.from), to: shownKey(deps.store, rotated.to), unreadableStops }
  })
  const { to, unreadableStops } = rotation
  print(options, rotation, () => [
    ...unreadableLines(unreadableStops),
    `Checkpoints are signed with ${to.id} from now on.`,
    `Verifiers that pinned the old key follow the rotation, which is part of evidence. They can also pin the new key: ${to.vkey}`,
  ])
}

async function revoke(id: string, options: CommonOptions & { since: string }): Promise<void> {
  const since = parseRfc3339(options.since)
  if (since === undefined) throw new UsageError(`--since: ${options.since} is not a time such as 2026-01-31T12:00:00Z.`)
  const key = await withStore(options, async (deps) =>
    shownKey(deps.store, await revokeSigningKey(deps, id, formatTimestamp(since), hostActor())),
  )
  print(options, key, () => [
    `${key.id} is revoked since ${key.revokedAt}. Send verifiers a new trust file: gate-sidecar signing-keys export-trust`,
  ])
}

async function exportTrust(options: CommonOptions & { out?: string }): Promise<void> {
  const trust = await withStore(options, async ({ store }) => trustFile(trustOf(store)))
  if (trust.logKeys.length === 0) throw new CannotRun('No key has signed yet; start the service once to make it.')
  const file = writeOut(options, trust)
  if (file === undefined) return
  print(options, { file }, () => [`Wrote the trust file ${file}. Send it to the verifier over a trusted channel.`])
}

async function exportSeal(options: CommonOptions & { out: string }): Promise<void> {
  const { out } = options
  if (existsSync(out)) throw new CannotRun(`${out} already exists; name another file, or remove it.`)
  const logKey = await withStore(options, async (deps, config) => {
    const { id, privateKey } = await ensureLogKey(deps, logKeyFileOf(config))
    writeDurably(out, sealKeyText(sealKeyFrom(privateKey)))
    return id
  })
  print(options, { file: out, logKey }, () => [
    `Wrote the seal key ${out} of the log key ${logKey}. Give it to sidecars that append and do not sign, as a secret.`,
  ])
}
