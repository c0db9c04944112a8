import { addressOf } from './place.ts'

/**
 * The address of a line of a policy file, for users with permission to read the source.
 *
 * @param file as the service names it, such as `acme/main.yaml`, or its name alone
 * @param digest of the policies with that line, if they may differ from those in force
 */
export function policyAddress(file: string, line: number, digest = ''): string {
  return addressOf(['policies', 'source'], { file: nameOf(file), line: String(line), digest })
}

/**
 * The address of a draft that replaces a file.
 *
 * @param file in force whose text the draft starts with, named as above; without it, that of the deciding rule, or the first
 */
export function draftAddress(file = ''): string {
  return addressOf(['policies', 'dry-run', 'draft'], { file: nameOf(file) })
}

/** The name without the tenant's folder. */
export function nameOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1)
}
