import { readFileSync } from 'node:fs'
import { parseAnchor } from '../evidence/anchor.ts'
import type { VerifyInputs } from '../evidence/attestation.ts'
import { parseVkey } from '../evidence/note.ts'
import { readTrust, type Trust } from '../evidence/trust.ts'
import type { GateCommand } from './command.ts'
import { collect, UsageError } from './context.ts'

export interface TrustOptions {
  trust?: string
  vkey?: string[]
  anchors?: string
}

/** Options of a verifier: its pinned keys, and the anchors that it kept. */
export function addTrustOptions(command: GateCommand): GateCommand {
  return command
    .option('--trust <file>', 'trust file that pins the log keys; see `signing-keys export-trust`')
    .option('--vkey <vkey>', 'a log key to pin; may be given several times', collect)
    .option('--anchors <file>', 'file of anchors, kept by you or by someone you trust')
}

/** @throws UsageError, UnusableTrust, or an error from reading a file */
export function verifyInputsOf({ trust, vkey = [], anchors }: TrustOptions): Required<VerifyInputs> {
  const file: Trust = trust === undefined ? { logKeys: [], revoked: new Map() } : readTrust(readFileSync(trust))
  const pinned = vkey.map((text) => {
    const key = parseVkey(text)
    if (key === undefined) throw new UsageError(`--vkey: ${text} is not the vkey of a log key.`)
    return { ...key, until: null }
  })
  return {
    // A key of the file keeps its end.
    trust: { ...file, logKeys: [...pinned, ...file.logKeys] },
    nowMs: Date.now(),
    anchors:
      anchors === undefined
        ? []
        : readFileSync(anchors, 'utf8')
            .split('\n')
            .flatMap((line) => parseAnchor(line) ?? []),
  }
}
