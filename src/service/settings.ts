import type { RequiredReplay } from '../actions/policies/admission.ts'
import {
  duration,
  durationOrOff,
  hostNames,
  oneOf,
  optionalCount,
  optionalHttpUrl,
  optionalPostgresUrl,
  optionalText,
  port,
  type Shape,
  text,
} from '../base/value-shape.ts'
import { requiredReplay } from './required-replay.ts'

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const ON_OFF = ['on', 'off'] as const
export type OnOff = (typeof ON_OFF)[number]

const RATE_LIMITS = ['sidecar', 'fleet'] as const
export type RateLimits = (typeof RATE_LIMITS)[number]

export interface Setting<T> {
  /** Placeholder of the value in the help of the flag. */
  placeholder: string
  default: T
  /** Value other than the default, as the file has it. */
  example: T
  help: string
  shape: Shape<T>
}

/** Settings by their name in the file. The names of flag and variable follow from it; the row has the rest. */
export const SETTINGS = {
  data: {
    placeholder: 'dir',
    default: './data',
    example: '/var/lib/gate-sidecar',
    help: 'folder of the data file; beside a store, of the signing key and of stops that wait for it',
    shape: text,
  },
  store: {
    placeholder: 'url',
    default: null as string | null,
    example: 'postgres://gate@db.internal/gate',
    help: 'PostgreSQL database that keeps everything for many sidecars, without a password; if not set, the data file does',
    shape: optionalPostgresUrl,
  },
  storePassword: {
    placeholder: 'file',
    default: null as string | null,
    example: '/run/secrets/store-password',
    help: 'file of the password for store',
    shape: optionalText,
  },
  maxStaleness: {
    placeholder: 'duration',
    default: '2s',
    example: '5s',
    help: 'time without an answer of the store after which nothing is decided and the service is not ready: 1s to 24h',
    shape: duration,
  },
  name: {
    placeholder: 'text',
    default: null as string | null,
    example: 'payments-1',
    help: 'name of this sidecar in the overview of those that share a store; the name of its host or pod if not set',
    shape: optionalText,
  },
  policies: {
    placeholder: 'dir',
    default: './policies',
    example: '/etc/gate-sidecar/policies',
    help: 'folder of the policies, one folder a tenant; store: takes the sets that policies push puts in the store',
    shape: text,
  },
  host: {
    placeholder: 'address',
    default: '127.0.0.1',
    example: '0.0.0.0',
    help: 'address to listen on',
    shape: text,
  },
  port: {
    placeholder: 'number',
    default: 4283,
    example: 8080,
    help: 'port to listen on, at most 65535; 0 takes a free one',
    shape: port,
  },
  socket: {
    placeholder: 'path',
    default: null as string | null,
    example: '/run/gate-sidecar.sock',
    help: 'Unix socket to listen on, in place of host and port',
    shape: optionalText,
  },
  allowedHosts: {
    placeholder: 'names',
    default: [] as string[],
    example: ['gate.internal'],
    help: 'additional host names accepted in the Host header, without port',
    shape: hostNames,
  },
  maxConnections: {
    placeholder: 'number',
    default: null as number | null,
    example: 500,
    help: 'connections kept open, at least 16; beyond them, the longest idle one is closed. If not set, as many as the limit of open files allows, at most 10,000',
    shape: optionalCount(16),
  },
  signingKey: {
    placeholder: 'file',
    default: null as string | null,
    example: '/run/secrets/signing-key.pem',
    help: 'file of the key that signs evidence; signing-key.pem in the data folder if not set',
    shape: optionalText,
  },
  sealKey: {
    placeholder: 'file',
    default: null as string | null,
    example: '/run/secrets/seal-key.json',
    help: 'file of the seal key, in place of signingKey: this sidecar appends to the store, and others sign',
    shape: optionalText,
  },
  anchorFile: {
    placeholder: 'file',
    default: null as string | null,
    example: '/mnt/anchors/gate-sidecar.jsonl',
    help: 'file that checkpoints are appended to, on another volume or of another user',
    shape: optionalText,
  },
  anchorUrl: {
    placeholder: 'url',
    default: null as string | null,
    example: 'https://siem.example/hooks/gate',
    help: 'http or https address that checkpoints are posted to; needs anchorSecret',
    shape: optionalHttpUrl,
  },
  anchorSecret: {
    placeholder: 'file',
    default: null as string | null,
    example: '/run/secrets/anchor-secret',
    help: 'file of the secret (whsec_…) that signs what is posted to anchorUrl',
    shape: optionalText,
  },
  watch: {
    placeholder: 'on|off',
    default: 'on' as OnOff,
    example: 'off',
    help: 'on: policies are read twice a second; off: at the start, on SIGHUP and when asked over HTTP',
    shape: oneOf(ON_OFF),
  },
  requireReplay: {
    placeholder: 'bounds',
    default: null as RequiredReplay | null,
    example: { since: '7d', maxNewAllows: 0, maxNewDenies: 10 },
    help: 'bounds of the sealed replay that a set needs to come into force, such as since=7d,maxNewAllows=0,maxNewDenies=10; none if not set',
    shape: requiredReplay,
  },
  sweep: {
    placeholder: 'on|off',
    default: 'on' as OnOff,
    example: 'off',
    help: 'on: all audit chains are verified after the start and each night; off: only when asked',
    shape: oneOf(ON_OFF),
  },
  rateLimits: {
    placeholder: 'sidecar|fleet',
    default: 'sidecar' as RateLimits,
    example: 'fleet',
    help: 'sidecar: each sidecar of a store allows the whole rate of a plan; fleet: each allows an equal share of it, by the number of live ones',
    shape: oneOf(RATE_LIMITS),
  },
  outcomeWithin: {
    placeholder: 'duration',
    default: '15m',
    example: '2h',
    help: 'time to wait for the outcome of an allowed action, for agents that report outcomes: 1s to 24h; off: no outcome counts as missing',
    shape: durationOrOff,
  },
  stopDelay: {
    placeholder: 'duration',
    default: '1s',
    example: '15s',
    help: 'time to keep serving after SIGTERM while /readyz says that the service stops, so that requests go elsewhere: 1s to 24h; off: it stops at once',
    shape: durationOrOff,
  },
  logLevel: {
    placeholder: 'level',
    default: 'info' as LogLevel,
    example: 'warn',
    help: LOG_LEVELS.join(', '),
    shape: oneOf(LOG_LEVELS),
  },
} as const satisfies Record<string, Setting<unknown>>

export type SettingName = keyof typeof SETTINGS
