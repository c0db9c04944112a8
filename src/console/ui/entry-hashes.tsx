import { Id } from './copy.tsx'

/** The hash of an audit entry and of the one before it, as `Facts` shows them. */
export function hashFacts({ hash, previousHash }: { hash: string; previousHash: string }) {
  return {
    Hash: <Id of={hash} what="the hash of the entry" />,
    Previous: <Id of={previousHash} what="the hash of the entry before" />,
  }
}
