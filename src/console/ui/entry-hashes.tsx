import { Id } from './copy.tsx'

/** The hash of an audit entry and of the one before it, as members of a list of facts. */
export function EntryHashes({ hash, previousHash }: { hash: string; previousHash: string }) {
  return (
    <>
      <dt>Hash</dt>
      <dd>
        <Id of={hash} what="the hash of the entry" />
      </dd>
      <dt>Previous</dt>
      <dd>
        <Id of={previousHash} what="the hash of the entry before" />
      </dd>
    </>
  )
}
