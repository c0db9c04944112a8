import { addressOf } from './place.ts'

/** Where a stop is shown among all others and marked, be it in force or over. */
export function stopAddress(id: string): string {
  return addressOf(['kill-switch', id])
}
