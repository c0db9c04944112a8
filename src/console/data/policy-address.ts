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

/**
 * Where a draft is asked in the place of a file.
 *
 * @param file in force with whose text it begins, named as above; of none, it begins with that of the rule that decided, or the first
 */
export function draftAddress(file = ''): string {
  return addressOf(['policies', 'dry-run', 'draft'], { file: nameOf(file) })
}

/** Without the folder of the tenant. */
export function nameOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1)
}
