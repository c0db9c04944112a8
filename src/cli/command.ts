import { Command } from 'commander'
import { flagOf } from '../service/config.ts'
import { SETTINGS, type SettingName } from '../service/settings.ts'

/** A command of the program, with the form of help that all of them have. */
export class GateCommand extends Command {
  /** The first example of each of its commands, which the help of a group shows. */
  readonly examples: string[] = []

  override createCommand(name?: string): GateCommand {
    return new GateCommand(name)
  }

  /** A paragraph below the options in help. Its text begins with a line feed, for an empty line above it. */
  notes(text: string): this {
    return this.addHelpText('after', text)
  }

  /** Examples at the end of help: commands to copy, without the name of the program. */
  example(...commands: readonly string[]): this {
    if (this.parent instanceof GateCommand) this.parent.examples.push(...commands.slice(0, 1))
    return this.notes(['\nExample:', ...commands.map((command) => `  gate-sidecar ${command}`)].join('\n'))
  }
}

/** Settings of the place where everything is kept. */
export const STORE_SETTINGS: readonly SettingName[] = ['data', 'store', 'storePassword']

/** The flags of these settings, where `data` stands for all of the store, then the options of every command. */
export function addCommonOptions(command: GateCommand, ...settings: readonly ('data' | 'policies')[]): GateCommand {
  const names = settings.flatMap((name): readonly SettingName[] => (name === 'data' ? STORE_SETTINGS : [name]))
  for (const name of names) addSettingOption(command, name)
  return command.option('--config <file>', 'configuration file (JSON)').option('--json', 'print JSON')
}

/** The flag of a setting, from the table of settings. */
export function addSettingOption(command: GateCommand, name: SettingName): GateCommand {
  const { placeholder, help, default: value } = SETTINGS[name]
  const shown = value === null || String(value) === '' ? '' : ` (default: ${value})`
  return command.option(`${flagOf(name)} <${placeholder}>`, `${help}${shown}`)
}
