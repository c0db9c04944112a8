import { addCommonOptions, type GateCommand } from './command.ts'
import type { CommonOptions } from './context.ts'

export function addOpenApiCommand(program: GateCommand): void {
  addCommonOptions(program.command('openapi'))
    .description('print the OpenAPI 3.1 document of the HTTP API; with --json, on one line')
    .example('openapi > openapi.json')
    .action(async ({ io, json }: CommonOptions) => {
      // Only this command loads the shapes of the answers.
      const { openApiDocument } = await import('../http/handlers.ts')
      io.stdout.write(`${JSON.stringify(openApiDocument(), null, json ? 0 : 2)}\n`)
    })
}
