import { envOf, flagOf, SCHEMA_MEMBER, SETTING_NAMES } from './config.ts'
import { SETTINGS, type Setting } from './settings.ts'

/** The JSON Schema of the configuration file, for editors. */
export function configSchema(): Record<string, unknown> {
  const properties = SETTING_NAMES.map((name) => {
    const { shape, help, default: value, example }: Setting<unknown> = SETTINGS[name]
    const description = `${help}. The flag ${flagOf(name)} and the variable ${envOf(name)} override the file.`
    return [name, { ...shape.schema, description, default: value, examples: [example] }]
  })
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:gate-sidecar:schema:config',
    title: 'gate-sidecar configuration',
    description: 'The file that --config names. Settings that it leaves out keep their defaults.',
    type: 'object',
    properties: {
      [SCHEMA_MEMBER]: {
        type: 'string',
        description: 'Address where an editor finds this schema; not a setting.',
        examples: ['./schemas/config.json'],
      },
      ...Object.fromEntries(properties),
    },
    additionalProperties: false,
  }
}
