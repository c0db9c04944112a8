import { join, resolve } from 'node:path'
import type { Config } from './config.ts'

/** Value of the setting for policies from the store. */
const FROM_STORE = 'store:'

/** Folder of the policies; undefined when they come from the store. */
export function policiesFolder({ policies }: Pick<Config, 'policies'>): string | undefined {
  return policies === FROM_STORE ? undefined : resolve(policies)
}

/** Path of the space that is kept for stops on a full disk. */
export function stopReservePath({ data }: Config): string {
  return join(data, 'stops.reserve')
}

/** Path of the signing key, with the default filled in. */
export function signingKeyPath({ data, signingKey }: Config): string {
  return signingKey ?? join(resolve(data), 'signing-key.pem')
}
