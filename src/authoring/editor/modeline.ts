/** The folder of the schemas for editors, beside that of the policies. */
export const SCHEMA_FOLDER = 'schemas'

/** The comment by which an editor with a YAML language server finds the schema of a file in a tenant's folder. */
export function modeline(kind: 'policy' | 'test'): string {
  return `yaml-language-server: $schema=../../${SCHEMA_FOLDER}/${kind}.json`
}
