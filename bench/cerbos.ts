import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { cerbosQuestion, type Question } from './payment.ts'
import { cpuMs, freePort, start, temporaryFolder } from './processes.ts'

export interface Target {
  name: string
  url: string
  question: Question
  /** CPU time used so far, in milliseconds, where the system tells. */
  cpuMs(): number | undefined
  /** Ends the server; gives the bytes of audit trail that it has written. */
  stop(): Promise<number>
}

// Equal in meaning to policies/bench/main.yaml; Cerbos has no hold, so what is held there is denied here.
const POLICY = `
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: payment
  version: default
  variables:
    local:
      eurozone: R.attr.country in ["DE", "ES", "FR", "IT", "NL"]
      amountRisk: "R.attr.amount >= 10000 ? 50.0 : R.attr.amount / 10000.0 * 50.0"
      countryRisk: "V.eurozone ? 0.0 : 30.0"
      score: V.amountRisk + V.countryRisk
  rules:
    - {name: sanctioned-country, actions: [transfer], roles: [agent], effect: EFFECT_DENY, condition: {match: {expr: 'R.attr.country in ["IR", "KP", "SY"]'}}}
    - {name: too-much, actions: [transfer], roles: [agent], effect: EFFECT_DENY, condition: {match: {expr: R.attr.amount > 50000}}}
    - {name: large, actions: [transfer], roles: [agent], effect: EFFECT_DENY, condition: {match: {expr: R.attr.amount > 10000}}}
    - {name: risk, actions: [transfer], roles: [agent], effect: EFFECT_DENY, condition: {match: {expr: V.score >= 40.0}}}
    - {name: eurozone, actions: [transfer], roles: [agent], effect: EFFECT_ALLOW, condition: {match: {expr: V.eurozone}}}
    - {name: small, actions: [transfer], roles: [agent], effect: EFFECT_ALLOW, condition: {match: {expr: R.attr.amount <= 1000}}}
`

/** Cerbos with its audit file: each decision is written, none is synced to disk before its answer. */
export async function startCerbos(): Promise<Target> {
  const folder = temporaryFolder('cerbos')
  const policies = join(folder, 'policies')
  const auditFile = join(folder, 'audit.log')
  mkdirSync(policies)
  writeFileSync(join(policies, 'payment.yaml'), POLICY)
  // The HTTP side reaches the gRPC side over its address, so neither port can be 0.
  const url = `http://127.0.0.1:${await freePort()}`
  const config = {
    server: { httpListenAddr: url.slice(7), grpcListenAddr: `127.0.0.1:${await freePort()}` },
    telemetry: { disabled: true },
    storage: { driver: 'disk', disk: { directory: policies, watchForChanges: false } },
    audit: {
      enabled: true,
      backend: 'file',
      accessLogsEnabled: false,
      decisionLogsEnabled: true,
      file: { path: auditFile },
    },
  }
  // JSON is YAML.
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config))
  const server = await start(binary(), ['server', `--config=${join(folder, 'config.yaml')}`], (line) =>
    line.includes('Starting HTTP server') ? true : undefined,
  )
  await untilHealthy(`${url}/_cerbos/health`)
  const stop = async () => {
    await server.stop()
    const auditBytes = statSync(auditFile).size
    rmSync(folder, { recursive: true })
    return auditBytes
  }
  return { name: 'cerbos', url, question: cerbosQuestion(), cpuMs: () => cpuMs(server.process), stop }
}

// The package with the binary itself: the lockfile has the one for Linux on x64.
function binary(): string {
  const name = `@cerbos/cerbos-${process.platform}-${process.arch}`
  try {
    return createRequire(import.meta.url).resolve(name)
  } catch (cause) {
    throw new Error(`${name} is not installed in bench; leave Cerbos out with --only gate,express,bare,micro`, {
      cause,
    })
  }
}

async function untilHealthy(url: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const healthy = await fetch(url).then(
      (answer) => answer.ok,
      () => false,
    )
    if (healthy) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${url} did not become healthy in 5 s`)
}
