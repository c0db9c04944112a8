import { readFileSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { exportBundle } from '../actions/evidence.ts'
import { ensureSigner } from '../actions/signing-key.ts'
import { GateError } from '../base/errors.ts'
import { isId, siblingId } from '../base/id.ts'
import { parseJson } from '../base/json.ts'
import { signingKeyPath } from '../config.ts'
import { verifyBundle } from '../evidence/verify.ts'
import { readSigningKey } from '../files/signing-key.ts'
import { addCommonOptions, type CommonOptions, configOf, EXIT, print, UsageError, withStore } from './context.ts'

interface VerifyOptions extends CommonOptions {
  publicKey?: string[]
}

const collect = (value: string, earlier: string[] = []): string[] => [...earlier, value]

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
}

async function exportCommand(id: string, options: CommonOptions & { out?: string }): Promise<void> {
  const config = configOf(options)
  const bundle = await withStore(config, false, async (deps) => {
    const path = signingKeyPath(config)
    const signer = await ensureSigner(deps, { read: () => readSigningKey(path), create: () => noKey(path) })
    const entry = await deps.store.entry(isId(id, 'decision') ? siblingId(id, 'entry') : id)
    if (entry === undefined) throw new GateError('not_found', 'There is no such decision.')
    return exportBundle({ ...deps, signer }, entry.header.chain, id)
  })
  const text = `${JSON.stringify(bundle)}\n`
  if (options.out === undefined) process.stdout.write(text)
  else writeFileSync(options.out, text)
}

function noKey(path: string): never {
  throw new UsageError(`There is no signing key ${path}; start the service once to make it.`)
}

async function verifyCommand(file: string, options: VerifyOptions): Promise<void> {
  const publicKeys = options.publicKey ?? (await keysOfData(options))
  const result = verifyBundle(parseJson(readBundle(file), { maxDepth: 64 }), { publicKeys, nowMs: Date.now() })
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

function readBundle(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new UsageError(`${file} cannot be read.`, { cause })
  }
}

function keysOfData(options: CommonOptions): Promise<string[]> {
  return withStore(configOf(options), false, async ({ store }) =>
    Array.from(store.state().signingKeys.values(), ({ publicKey }) => publicKey),
  )
}
