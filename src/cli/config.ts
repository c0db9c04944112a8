import { type Origin, readSettings, SETTING_NAMES } from '../service/config.ts'
import type { GateCommand } from './command.ts'
import { type CommonOptions, sourcesOf } from './context.ts'
import { print, table } from './output.ts'
import { addServeOptions } from './serve/serve.ts'

export function addConfigCommands(program: GateCommand): void {
  const config = program.command('config').description('print the settings')
  addServeOptions(config.command('print'))
    .description('print the settings that serve uses with the same flags, variables and file')
    .option('--show-origin', 'show the origin of each value: flag, variable, file or default')
    .notes(`
With --json and without --show-origin, the output is a configuration file.`)
    .example('config print --show-origin --config gate-sidecar.json --port 8080')
    .action(printConfig)
}

function printConfig(options: CommonOptions & { showOrigin?: boolean }): void {
  const settings = readSettings(sourcesOf(options))
  const values = Object.fromEntries(SETTING_NAMES.map((name) => [name, settings[name].value]))
  print(options, options.showOrigin ? settings : values, () => {
    const rows = SETTING_NAMES.map((name) => {
      const { value, origin } = settings[name]
      return [name, String(value ?? ''), options.showOrigin ? originText(origin) : '']
    })
    return table(['SETTING', 'VALUE', options.showOrigin ? 'FROM' : ''], rows)
  })
}

function originText(origin: Origin): string {
  return origin.kind === 'default' ? 'default' : `${origin.kind} ${origin.name}`
}
