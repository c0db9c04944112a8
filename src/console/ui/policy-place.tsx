import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { nameOf, policyAddress } from '../data/policy-address.ts'
import { PermittedLink } from './link.tsx'
import { Text } from './text.tsx'

/** Digest of the policies that places refer to; empty for those in force. */
export const PolicyDigest = createContext('')

/** A place in the policies, `main.yaml:12`: a link for users with permission to read them. */
export function PolicyPlace({ file, line }: { file: string; line: number }) {
  const digest = useContext(PolicyDigest)
  return (
    <span class="policy-place mono links">
      <PermittedLink needs="policySource" to={policyAddress(file, line, digest)}>
        <Text of={`${nameOf(file)}:${line}`} />
      </PermittedLink>
    </span>
  )
}
