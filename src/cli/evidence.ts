import { readFileSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { exportBundle } from '../actions/evidence.ts'
import { ensureSigner } from '../actions/signing-key.ts'
import { GateError } from '../base/errors.ts'
import { isId, siblingId } from '../base/id.ts'
import { type Json, parseJson } from '../base/json.ts'
import { visibleJson } from '../base/visible.ts'
import { signingKeyPath } from '../config.ts'
import { verifyBundle } from '../evidence/verify.ts'
import { readSigningKey } from '../files/signing-key.ts'
import { addCommonOptions, CannotRun, type CommonOptions, collect, configOf, EXIT, withStore } from './context.ts'
import { print } from './output.ts'

interface VerifyOptions extends CommonOptions {
  publicKey?: string[]
}

export function addEvidenceCommands(program: Command): void {
  const evidence = program.command('evidence').description('export and verify signed evidence of decisions')
  addCommonOptions(evidence.command('export <decision>'), { data: true })
    .description('write the trust bundle of a decision')
    .option('--out <file>', 'file to write; standard output if not given')
    .addHelpText('after', '\nExample:\n  gate-sidecar evidence export dec_01hzy3v4q2m8k7t6r5w4x3y2z1 --out bundle.json')
    .action(exportCommand)
  addCommonOptions(evidence.command('verify <bundle>'), { data: true })
    .description('verify a bundle file without any server; exit 1 when it is not valid')
    .option(
      '--public-key <base64>',
      'a key to trust; may be given several times. The key of --data if not given',
      collect,
    )
    .addHelpText(
      'after',
      '\nExample:\n  gate-sidecar evidence verify bundle.json --public-key PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=',
    )
    .action(verifyCommand)
  addCommonOptions(evidence.command('key'), { data: true })
    .description('print the public key that a verifier pins')
    .addHelpText('after', '\nExample:\n  gate-sidecar evidence key --data ./data')
    .action(keyCommand)
}

async function keyCommand(options: CommonOptions): Promise<void> {
  const publicKeys = await keysOfData(options)
  if (publicKeys.length === 0) throw new CannotRun('No key has signed yet; start the service once to make it.')
  print(options, { publicKeys }, () => publicKeys)
}

async function exportCommand(id: string, options: CommonOptions & { out?: string }): Promise<void> {
  const config = configOf(options)
  const bundle = await withStore(config, {}, async (deps) => {
    const entry = await deps.store.entry(isId(id, 'decision') ? siblingId(id, 'entry') : id)
    if (entry === undefined) throw new CannotRun(`There is no decision ${id}; its id starts with dec_.`)
    const path = signingKeyPath(config)
    const signer = await ensureSigner(deps, { read: () => readSigningKey(path), create: () => noKey(path) })
    return exportBundle({ ...deps, signer }, entry.header.chain, id)
  })
  const text = `${visibleJson(bundle)}\n`
  const { out } = options
  if (out === undefined) {
    process.stdout.write(text)
    return
  }
  writeFileSync(out, text)
  print(options, { bundleId: bundle.bundleId, file: out }, () => [`${bundle.bundleId} is in ${out}.`])
}

function noKey(path: string): never {
  throw new CannotRun(`There is no signing key ${path}; start the service once to make it.`)
}

async function verifyCommand(file: string, options: VerifyOptions): Promise<void> {
  const bundle = readBundle(file)
  const publicKeys = options.publicKey ?? (await keysOfData(options))
  const result = verifyBundle(bundle, { publicKeys, nowMs: Date.now() })
  print(options, result, () => [
    `signature   ${verdict(result.signatureValid)}`,
    `chain       ${verdict(result.chainValid)}`,
    `timestamp   ${verdict(result.timestampValid)}`,
    result.valid ? 'The bundle is valid.' : `NOT VALID: ${result.reasons.join(' ')}`,
  ])
  if (!result.valid) process.exitCode = EXIT.negative
}

function verdict(valid: boolean): string {
  return valid ? 'ok' : 'FAILED'
}

/** What the file holds; undefined, which is no bundle, when it is not JSON. */
function readBundle(file: string): Json | undefined {
  const bytes = readFileSync(file)
  try {
    return parseJson(bytes, { maxDepth: 64 })
  } catch (error) {
    if (error instanceof GateError) return undefined
    throw error
  }
}

function keysOfData(options: CommonOptions): Promise<string[]> {
  return withStore(configOf(options), {}, async ({ store }) =>
    Array.from(store.state().signingKeys.values(), ({ publicKey }) => publicKey),
  )
}
