import { join, resolve } from 'node:path'
import type { Config } from './config.ts'

/** Path of the space that is kept for stops on a full disk. */
export function stopReservePath({ data }: Config): string {
  return join(data, 'stops.reserve')
}

/** Path of the signing key, with the default filled in. */
export function signingKeyPath({ data, signingKey }: Config): string {
  return signingKey ?? join(resolve(data), 'signing-key.pem')
}
