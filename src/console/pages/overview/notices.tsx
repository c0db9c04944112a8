import type { ComponentChildren } from 'preact'
import type { Overview } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import type { Stops } from '../../data/stops.ts'
import { Link } from '../../ui/link.tsx'
import { countText } from '../../ui/numbers.ts'
import { StopScope } from '../../ui/stop-link.tsx'
import { Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'

/** Pages that solve problems, with the operation that each needs. */
const SOLVED_AT = { 'kill-switch': 'killSwitchStatus', policies: 'listPolicies', audit: 'auditChain' } as const

/** Characters of a digest by which people tell it from another one. */
const DIGEST_SHOWN = 'sha256:'.length + 8

interface Problem {
  name: string
  title: ComponentChildren
  text: ComponentChildren
  page: keyof typeof SOLVED_AT
  /** The label of the link to the page. */
  link: string
}

/** Current problems, above everything else. */
export function Notices({ of: { posture, audit, fleet } }: { of: Overview }) {
  const { may, stops } = useConsole()
  const problems = [
    ...ofStop(stops),
    ...ofMode(posture),
    ...ofPolicies(posture),
    ...ofFleet(fleet),
    ...ofTrail(audit),
    ...ofAnchors(audit),
  ]
  if (problems.length === 0) return null
  return (
    <section aria-label="Current problems">
      <ul class="stack tight notices">
        {problems.map(({ name, title, text, page, link }) => (
          <li key={name} class="notice line wrong">
            <p>
              <strong>{title}</strong>
              <span>{text}</span>
            </p>
            {may(SOLVED_AT[page]) && (
              <Link to={addressOf([page])} class="button small">
                {link}
              </Link>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

function ofStop({ data, isKnown }: Stops): Problem[] {
  const [strongest] = data?.switches ?? []
  if (strongest === undefined) return []
  const title = (
    <>
      {isKnown ? 'Stopped:' : 'Stopped at last contact:'} {strongest.level} <StopScope {...strongest} />
    </>
  )
  const text = 'Every action that the stop covers is denied, or waits until it ends.'
  return [{ name: 'stop', title, text, page: 'kill-switch', link: 'Kill switch' }]
}

function ofMode({ policies: { mode } }: Overview['posture']): Problem[] {
  if (mode !== 'observe') return []
  const title = 'Policies are only observed, not enforced'
  const text = 'Every action is allowed, unless it is stopped. Decisions show what the policies decided.'
  return [{ name: 'mode', title, text, page: 'policies', link: 'Policies' }]
}

function ofPolicies({ policies: { inForce, current, faults } }: Overview['posture']): Problem[] {
  if (inForce && current) return []
  const title = inForce ? 'The newest policies are not in force' : 'No policies are in force'
  const counted = faults === 0 ? '' : `They have ${faults === 1 ? 'a fault' : `${faults} faults`}. `
  const text = `${counted}${inForce ? 'The previous policies still decide.' : 'Every action is denied.'}`
  return [{ name: 'policies', title, text, page: 'policies', link: faults > 0 ? 'See the faults' : 'Policies' }]
}

/** Sidecars that decide differently: a roll-out is under way, or stopped half-way. */
function ofFleet(fleet: Overview['fleet']): Problem[] {
  if (fleet === null) return []
  const { policies, versions } = fleet
  const problems: Problem[] = []
  if (policies.length > 1) {
    const counts = policies.map(({ digest, sidecars }) => `${digest?.slice(0, DIGEST_SHOWN) ?? 'none'}: ${sidecars}`)
    const text = `The same action may be decided differently. ${counts.join(', ')}. The table of sidecars has each one.`
    const title = 'Sidecars have different policies'
    problems.push({ name: 'divided', title, text, page: 'policies', link: 'Policies' })
  }
  if (versions.length > 1) {
    const counts = versions.map(({ version, sidecars }) => `${version}: ${sidecars}`).join(', ')
    const text = <Text of={`${counts}.`} />
    problems.push({
      name: 'versions',
      title: 'Sidecars have different versions',
      text,
      page: 'policies',
      link: 'Policies',
    })
  }
  return problems
}

function ofTrail({ fault, lastVerified }: Overview['audit']): Problem[] {
  const problems: Problem[] = []
  if (fault !== null) {
    const title = 'The audit trail cannot be written, so nothing is decided'
    problems.push({ name: 'fault', title, text: <Text of={fault} severalLines />, page: 'audit', link: 'Audit' })
  }
  if (lastVerified?.valid === false) {
    const text = (
      <>
        The service verified its chains <Ago at={lastVerified.at} />, and at least one has been altered.
      </>
    )
    const title = 'The audit trail did not verify'
    problems.push({ name: 'unverified', title, text, page: 'audit', link: 'Verify it' })
  }
  return problems
}

function ofAnchors({ sinks, unanchoredEntries }: Overview['audit']): Problem[] {
  const failing = sinks.filter(({ ok }) => !ok)
  return failing.map(({ sink, lastAt }) => {
    const title = `External anchors fail: nothing can be written to “${sink}”`
    const text = (
      <>
        {lastAt === null ? (
          'Nothing was written there since the service started. '
        ) : (
          <>
            Last written <Ago at={lastAt} />.{' '}
          </>
        )}
        {unanchoredEntries !== null && `${countText(unanchoredEntries)} entries are in no anchor yet.`}
      </>
    )
    return { name: `sink ${sink}`, title, text, page: 'audit', link: 'Audit' }
  })
}
