import { UnusableFile } from './errors.ts'

/** Mark of a store that must not be used: an unfinished copy, or a trail that goes on elsewhere. */
export interface Fence {
  kind: 'copying' | 'moved'
  /** The other side of the copy. */
  other: string
  at: string
}

/** @throws UnusableFile for a store with a mark */
export function assertUnfenced(where: string, fence: Fence | undefined): void {
  if (fence === undefined) return
  const { kind, other, at } = fence
  throw new UnusableFile(
    kind === 'copying'
      ? `The store in ${where} is an unfinished copy of ${other}, begun at ${at}. Run the same \`gate-sidecar store copy\` again to finish it.`
      : `The trail in ${where} was moved to ${other} at ${at}. Use it there: entries added here would contradict it.`,
  )
}
