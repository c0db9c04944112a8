import { useEffect, useState } from 'preact/hooks'
import { useConsole } from '../../data/console.ts'
import { useLoad } from '../../data/load.ts'
import { addressOf, usePlace } from '../../data/place.ts'
import { Button } from '../../ui/button.tsx'
import { Link } from '../../ui/link.tsx'
import { PageHead } from '../../ui/page-head.tsx'
import { Failure, Loading } from '../../ui/states.tsx'
import { Text } from '../../ui/text.tsx'
import { BundleClaims } from './bundle-claims.tsx'
import { BundleVerdict } from './bundle-verdict.tsx'
import { type Document, KINDS, readDocument, type Sorted, sortDocument } from './documents.ts'
import { DropZone, PasteBox } from './drop-zone.tsx'
import { type Given, useVerified } from './verifier.ts'

const NAMES = { evidence: 'Bundle', trust: 'Trust file', anchors: 'Anchors' } as const

/** Verifies a bundle in this browser; the documents never leave it. */
export function VerifyBundle() {
  const { given, refused, take, clear } = useGiven()
  const exported = useExported(given.evidence === undefined ? take : undefined)
  const verified = useVerified(given)
  const files = async (list: readonly File[]): Promise<void> => take(await Promise.all(list.map(readDocument)))
  const isEmpty = KINDS.every((kind) => given[kind] === undefined) && refused.length === 0
  return (
    <>
      <p class="back links">
        <Link to={addressOf(['audit'])}>Audit trail</Link>
      </p>
      <PageHead title="Verify a bundle">{!isEmpty && <Button text="Start again" onClick={clear} />}</PageHead>
      <div class="stack">
        <p class="muted">
          Runs the same code as <code>gate-sidecar evidence verify</code>, in this browser alone: your files are not
          sent anywhere.
        </p>
        {exported.isLoading && <Loading what="the bundle" />}
        {exported.error && <Failure error={exported.error} retry={exported.reload} />}
        <DropZone onFiles={(list) => void files(list)} />
        <PasteBox
          onText={(text) => take([sortDocument({ name: 'pasted text', bytes: new TextEncoder().encode(text) })])}
        />
        <Documents given={given} refused={refused} />
        <BundleVerdict of={verified} hasTrust={given.trust !== undefined} />
        {verified.state === 'done' && given.evidence !== undefined && (
          <BundleClaims evidence={given.evidence} verification={verified.verification} />
        )}
      </div>
    </>
  )
}

type Refused = Extract<Sorted, { fault: string }>

/** The accepted documents, one of each kind, and the refused ones. */
function useGiven() {
  const [given, setGiven] = useState<Given>({})
  const [refused, setRefused] = useState<readonly Refused[]>([])
  const take = (sorted: readonly Sorted[]): void => {
    const taken = new Map<string, Document>()
    const faults: Refused[] = []
    for (const one of sorted) {
      if ('fault' in one) faults.push(one)
      else if (taken.has(one.kind))
        faults.push({ name: one.document.name, fault: 'Another file of the same kind is used instead.' })
      else taken.set(one.kind, one.document)
    }
    setGiven((last) => ({ ...last, ...Object.fromEntries(taken) }))
    setRefused(faults)
  }
  const clear = (): void => {
    setGiven({})
    setRefused([])
  }
  return { given, refused, take, clear }
}

/** The bundle of the decision in the address, exported by the service. */
function useExported(take: ((sorted: readonly Sorted[]) => void) | undefined) {
  const { gate } = useConsole()
  const decision = usePlace().query.get('decision')
  const exported = useLoad(
    async (signal) => (decision === null ? undefined : gate.evidence.bundle(decision, {}, { signal })),
    [decision],
  )
  useEffect(() => {
    if (exported.data === undefined) return
    const bytes = new TextEncoder().encode(JSON.stringify(exported.data))
    take?.([sortDocument({ name: `${decision}, as this service exports it`, bytes })])
  }, [exported.data])
  return { ...exported, isLoading: exported.isLoading && decision !== null }
}

function Documents({ given, refused }: { given: Given; refused: readonly Refused[] }) {
  return (
    <>
      <dl class="facts documents">
        {KINDS.map((kind) => (
          <div key={kind}>
            <dt>{NAMES[kind]}</dt>
            <dd>
              {given[kind] ? (
                <Text of={given[kind].name} />
              ) : (
                <span class="muted">{kind === 'anchors' ? 'none (optional)' : 'none yet'}</span>
              )}
            </dd>
          </div>
        ))}
      </dl>
      <div role="alert">
        {refused.map(({ name, fault }, i) => (
          <p key={i} class="failure">
            <span>
              <strong>
                <Text of={name} />
              </strong>{' '}
              {fault}
            </span>
          </p>
        ))}
      </div>
    </>
  )
}
