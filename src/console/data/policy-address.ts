import { addressOf } from './place.ts'

/**
 * Where a line of a policy file is shown, for those who may read the source.
 *
 * @param file as the service names it, such as `acme/main.yaml`, or its name alone
 * @param digest of the policies that have the line, where those in force may be others
 */
export function policyAddress(file: string, line: number, digest = ''): string {
  return addressOf(['policies', 'source'], { file: nameOf(file), line: String(line), digest })
}

/** Without the folder of the tenant. */
export function nameOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1)
}
