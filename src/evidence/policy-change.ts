import { chainOf } from '../audit/chain.ts'
import type { EventType } from '../audit/events.ts'
import { encodeBase64 } from '../base/bytes.ts'
import type { JsonObject } from '../base/json.ts'
import { isJsonObject } from '../base/json.ts'
import { attest, type VerifyInputs } from './attestation.ts'
import { openedSection, type Placed } from './bundle.ts'
import { checkResultOf, failed, type Verification, verdictOf } from './checks.ts'
import { Base64Of32, Checkpoint, Digest, HeaderShape, Id, Origin, Path, Signatures, Time } from './fields.ts'
import { type CheckpointNote, checkpointOf } from './note.ts'
import { inclusionFault } from './proven.ts'
import { opens } from './segment.ts'
import { anyObject, count, list, literal, object, type TypeOf, text } from './shape.ts'
import { Certificate, Rotations } from './trust.ts'

export const POLICY_CHANGE = 'policy-change'
export const POLICY_CHANGE_VERSION = '1.0'
/** Limit of entries. */
export const MAX_CHANGE_ENTRIES = 256

const opened = object({ salt: Base64Of32, value: anyObject })

/** The entries of a trail about one policy set (docs/evidence.md). Everything but `signatures` is signed. */
export const PolicyChangeShape = object(
  {
    bundleId: Id,
    version: literal(POLICY_CHANGE_VERSION),
    kind: literal(POLICY_CHANGE),
    tenantId: text({ pattern: /^[A-Za-z0-9][A-Za-z0-9_-]*$/, maxLength: 63 }),
    policyDigest: Digest,
    exportedAt: Time,
    entries: list(object({ header: HeaderShape, actor: opened, data: opened, inclusion: Path }), {
      min: 1,
      max: MAX_CHANGE_ENTRIES,
    }),
    /** Number of older entries about the set that are not shown. */
    leftOut: count,
    proof: object({
      v: literal(1),
      origin: Origin,
      checkpoint: Checkpoint,
      certificate: Certificate,
      rotations: Rotations,
    }),
    signatures: Signatures,
  },
  { title: 'PolicyChange' },
)
export type PolicyChange = TypeOf<typeof PolicyChangeShape>

/** The set that an entry is about, by its type. */
const SET_OF = {
  'policy.compared': ({ to }) => to,
  'policy.replayed': ({ policyDigest }) => policyDigest,
  'policy.shadowed': ({ digest }) => digest,
  'policy.promoted': ({ digest }) => digest,
  'policy.overridden': ({ digest }) => digest,
  'policy.loaded': ({ changes }) => (isJsonObject(changes) ? changes.digest : undefined),
} as const satisfies Partial<Record<EventType, (data: JsonObject) => unknown>>

export const CHANGE_EVENTS = Object.keys(SET_OF) as (keyof typeof SET_OF)[]

/** True for the entry of a type that tells of the set with this digest. */
export function isAboutSet(type: string, data: JsonObject, digest: string): boolean {
  return CHANGE_EVENTS.some((known) => known === type && SET_OF[known](data) === digest)
}

/** True for what claims to be such evidence, whether or not it has the shape. */
export function claimsPolicyChange(claimed: unknown): boolean {
  return typeof claimed === 'object' && claimed !== null && Object.hasOwn(claimed, 'kind')
}

/** An entry of the trail with its path to the root of the checkpoint. @throws TypeError when something of it is missing */
export function changeEntry({ entry, inclusion }: Placed): PolicyChange['entries'][number] {
  const [actor, data] = [openedSection(entry, 'actor'), openedSection(entry, 'data')]
  if (actor === undefined || data === undefined) throw new TypeError('a section of an entry about policies is missing')
  return { header: entry.header, actor, data, inclusion: inclusion.map(encodeBase64) }
}

/** Verifies the entries about a policy set without any server (docs/evidence.md, The policy change). */
export function verifyPolicyChange(claimed: unknown, inputs: VerifyInputs): Verification {
  const fault = PolicyChangeShape.fault(claimed, '')
  if (fault !== undefined) return verdictOf({ form: failed(`This is not a policy change: ${fault}.`) })
  const change = claimed as PolicyChange // as the shape says
  const { signatures, ...unsigned } = change
  const { origin, certificate, rotations } = change.proof
  const checkpoint = checkpointOf(change.proof.checkpoint)
  const { results, isAnchored } = attest(
    {
      ...{ origin, certificate, rotations, checkpoint, unsigned, kind: 'change', signature: signatures.service },
      ...{ chain: chainOf(change.tenantId, 'live'), exportedAt: change.exportedAt, beside: [], earlier: [] },
      ts: change.entries.at(-1)?.header.ts,
    },
    inputs,
  )
  return verdictOf(
    {
      form: checkResultOf(undefined),
      ...results,
      segment: checkResultOf(placeFault(change)),
      openings: checkResultOf(openingFault(change)),
      inclusion: checkResultOf(treeFault(change, checkpoint)),
    },
    { assurance: isAnchored ? 'bracketed' : 'self-asserted' },
  )
}

/** The fault in the places: entries of the tenant's live chain, in its order. */
function placeFault({ tenantId, entries }: PolicyChange): string | undefined {
  let last = -1
  for (const { header } of entries) {
    if (header.chain !== chainOf(tenantId, 'live')) return `Entry ${header.seq} is of another chain.`
    if (header.seq <= last) return `Entry ${header.seq} is not in the order of the chain.`
    last = header.seq
  }
  return undefined
}

/** The fault in what is shown of the entries, each of which must tell of the set. */
function openingFault({ policyDigest, entries }: PolicyChange): string | undefined {
  for (const { header, actor, data } of entries) {
    const { seq, type, commits } = header
    if (Object.keys(commits).sort().join() !== 'actor,data') return `Entry ${seq} has other sections.`
    if (!opens(header, 'actor', actor.salt, actor.value) || !opens(header, 'data', data.salt, data.value))
      return `Entry ${seq} did not commit to what is shown of it.`
    if (!isAboutSet(type, data.value, policyDigest)) return `Entry ${seq} does not tell of the set.`
  }
  return undefined
}

function treeFault({ entries }: PolicyChange, checkpoint: CheckpointNote): string | undefined {
  for (const { header, inclusion } of entries) {
    const fault = inclusionFault(header, inclusion, checkpoint)
    if (fault !== undefined) return fault
  }
  return undefined
}
