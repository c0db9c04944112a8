import { useConsole } from '../data/console.ts'
import { nameOf, policyAddress } from '../data/policy-address.ts'
import { Link } from './link.tsx'
import { Text } from './text.tsx'

/** Where something stands in the policies, `main.yaml:12`: a link for those who may read them. */
export function PolicyPlace({ file, line }: { file: string; line: number }) {
  const { may } = useConsole()
  const text = <Text of={`${nameOf(file)}:${line}`} />
  return (
    <span class="policy-place mono">
      {may('policySource') ? <Link to={policyAddress(file, line)}>{text}</Link> : text}
    </span>
  )
}
