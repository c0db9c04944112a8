/** A trust file cannot be used; the message says why. */
export class UnusableTrust extends Error {
  override readonly name = 'UnusableTrust'
}
