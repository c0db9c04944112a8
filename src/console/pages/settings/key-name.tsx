import type { ListedKey } from '../../../client/api.ts'
import { Text } from '../../ui/text.tsx'

/** A key by its name and its id. */
export function KeyName({ of: { id, name } }: { of: ListedKey }) {
  return (
    <>
      {name !== null && (
        <>
          <strong>
            <Text of={name} />
          </strong>{' '}
        </>
      )}
      <code class="key-id">{id}</code>
    </>
  )
}
