import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { useConsole } from '../data/console.ts'
import { nameOf, policyAddress } from '../data/policy-address.ts'
import { Link } from './link.tsx'
import { Text } from './text.tsx'

/** Digest of the policies that places refer to; empty for those in force. */
export const PolicyDigest = createContext('')

/** A place in the policies, `main.yaml:12`: a link for users with permission to read them. */
export function PolicyPlace({ file, line }: { file: string; line: number }) {
  const { may } = useConsole()
  const digest = useContext(PolicyDigest)
  const text = <Text of={`${nameOf(file)}:${line}`} />
  return (
    <span class="policy-place mono links">
      {may('policySource') ? <Link to={policyAddress(file, line, digest)}>{text}</Link> : text}
    </span>
  )
}
