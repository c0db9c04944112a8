import type { DiagnosticCode } from './codes.ts'

/** The page that explains a code, as a path from the root of the project. */
export function pageOf(code: DiagnosticCode): string {
  return `docs/errors/${code}.md`
}
