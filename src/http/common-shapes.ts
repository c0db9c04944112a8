import * as Type from '#typebox'
import { PLACE_PATTERN } from '../actions/page.ts'
import { ID_PREFIX, type IdKind } from '../base/id.ts'
import { EFFECTS } from '../policies/set.ts'

/**
 * Adds null to a schema, which drops its title. It is written as a list of types, which client generators understand.
 */
export function nullable<S extends Type.TSchema & { type?: string; enum?: readonly unknown[]; title?: string }>(
  schema: S,
) {
  const { type, enum: values, title: _, ...others } = schema
  return Type.Unsafe<Type.Static<S> | null>({
    ...others,
    type: [type, 'null'],
    ...(values !== undefined && { enum: [...values, null] }),
  })
}

/** An object that the OpenAPI document declares once, under its title. */
export function titled<P extends Type.TProperties>(title: string, properties: P): Type.TObject<P>
export function titled<P extends Type.TProperties>(title: string, description: string, properties: P): Type.TObject<P>
export function titled<P extends Type.TProperties>(title: string, ...rest: [P] | [string, P]) {
  return rest.length === 1 ? Type.Object(rest[0], { title }) : Type.Object(rest[1], { title, description: rest[0] })
}

export function described<P extends Type.TProperties>(description: string, properties: P) {
  return Type.Object(properties, { description })
}

export function oneOf<T extends string>(values: readonly T[], description?: string) {
  return Type.Unsafe<T>({ type: 'string', enum: [...values], ...(description !== undefined && { description }) })
}

/** Decision of policies that are only observed. */
export const Observed = Type.Optional(
  oneOf(EFFECTS, 'Decision of the policies, if they are only observed (`mode: observe`); `decision` is `allow` then.'),
)

/** Like `oneOf`, for a value whose type is any text, such as one read back from the trail. */
export function textOf(values: readonly string[], description: string) {
  return Type.Unsafe<string>({ type: 'string', enum: [...values], description })
}

export function id(kind: IdKind, description: string) {
  return Type.String({ pattern: `^${ID_PREFIX[kind]}_[0-9a-hjkmnp-tv-z]{26}$`, description })
}

export const Timestamp = Type.String({ format: 'date-time', description: 'UTC, with milliseconds.' })
/** Place in a trail, before which a list goes on. */
export function placeBefore(description: string) {
  return Type.Optional(Type.String({ pattern: PLACE_PATTERN, maxLength: 128, description }))
}

export const Digest = Type.String({ pattern: '^sha256:[0-9a-f]{64}$' })
/** Object with any members. */
export const AnyObject = Type.Unsafe<{ readonly [member: string]: unknown }>({
  type: 'object',
  additionalProperties: true,
})

export const RiskFactor = titled('RiskFactor', 'One factor of a risk score, in points.', {
  name: Type.String(),
  weight: Type.Number({ description: 'The most that it can contribute.' }),
  contribution: Type.Number(),
})

const factors = [
  { name: 'tainted-session', weight: 20, contribution: 20 },
  { name: 'amount', weight: 50, contribution: 0.1 },
  { name: 'new-recipient', weight: 15, contribution: 15 },
]
const verdict = {
  decision: 'require_approval' as const,
  reason: 'A new account, in a session that holds text of a third party, is looked at by a person.',
  rule: 'steered-transfer',
  decidedBy: 'hold_rule' as const,
  retry: 'after_approval' as const,
  riskScore: 35.1,
  factors,
  unevaluable: [],
  planValidated: true,
}

/** Values of the examples, which tell one story: a transfer is held, approved, and made. */
export const EXAMPLE = {
  approval: 'apr_01m7yzzehfrpebstavhhvn7kv5',
  decision: 'dec_01m7yzzehe6pjva8zh9yqf6aqb',
  entry: 'aud_01m7yzzehe6pjva8zh9yqf6aqb',
  key: 'key_01m7yzz0k6tq3c1xw9v5r8n2be',
  nextKey: 'key_01m7z1prq98w2s5d7f0g3h6j9k',
  voter: 'key_01m7yzz1s8d4m0h7j2p6q9t3gf',
  stop: 'ksw_01m7z00rfx8e5n3w7c2k4v6ymd',
  bundle: 'bun_01m7z01a9b4f6h8j0k2m4n6p8q',
  policyDigest: 'sha256:7814d306f9d1ab1c56b3ab4e8a0ff3c45ef1d83b5a4c5e7ffb0d3bb0b7d1c9e2',
  digest: 'sha256:1d7f2c3b9a8e6f504132abcdef0123456789abcdef0123456789abcdef012345',
  hash: 'sha256:9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab',
  previousHash: 'sha256:d29db49664ad559a6bec9448b311239905def06f8ee29a0ff8d50f34f02f11d9',
  time: '2026-11-21T12:05:57.423Z',
  later: '2026-11-21T12:35:57.398Z',
  hourLater: '2026-11-21T13:35:57.398Z',
  context: { amount: 25, country: 'DE', iban: 'DE02100500000054540402' },
  factors,
  verdict,
} as const
