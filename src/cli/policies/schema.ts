import { editorSchema, testFileSchema } from '../../authoring/editor/editor-schema.ts'
import { configSchema } from '../../service/config-schema.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import type { CommonOptions } from '../context.ts'

/** Formats with a schema: name of the command, description, and use in an editor. */
const SCHEMAS: readonly { name: string; of: string; make: () => Record<string, unknown>; use: string }[] = [
  {
    name: 'policy',
    of: 'a policy file (policies/<tenant>/*.yaml)',
    make: editorSchema,
    use: 'An editor with a YAML language server applies it to policies that begin with\n  # yaml-language-server: $schema=../../schemas/policy.json',
  },
  {
    name: 'test',
    of: 'a file of policy tests (policies/<tenant>/*.test.yaml)',
    make: testFileSchema,
    use: 'An editor with a YAML language server applies it to test files that begin with\n  # yaml-language-server: $schema=../../schemas/test.json',
  },
  {
    name: 'config',
    of: 'the configuration file (--config)',
    make: configSchema,
    use: 'An editor applies it to a configuration file with the member\n  "$schema": "./schemas/config.json"',
  },
]

export function addSchemaCommands(program: GateCommand): void {
  const schema = program.command('schema').description('print JSON Schemas (2020-12) for editors')
  for (const { name, of, make, use } of SCHEMAS) {
    addCommonOptions(schema.command(name))
      .description(`print the JSON Schema of ${of}`)
      .notes(`\n${use}`)
      .example(`schema ${name} > schemas/${name}.json`)
      .action(({ io, json }: CommonOptions) => {
        // A schema is JSON anyway; --json prints it on one line.
        io.stdout.write(`${JSON.stringify(make(), undefined, json ? 0 : 2)}\n`)
      })
  }
}
