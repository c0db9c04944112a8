/** Thrown for an unusable trust file; the message states the cause. */
export class UnusableTrust extends Error {
  override readonly name = 'UnusableTrust'
}
