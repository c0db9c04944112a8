import { Argument, type Command } from 'commander'
import { addCommonOptions, type GateCommand } from '../command.ts'
import type { CommonOptions } from '../context.ts'
import { bashScript, fishScript, type Level, zshScript } from './scripts.ts'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript }

export function addCompletionCommand(program: GateCommand): void {
  addCommonOptions(program.command('completion'))
    .addArgument(new Argument('<shell>', 'shell that loads the script').choices(Object.keys(SCRIPTS)))
    .description('print a shell script that completes commands, options and their values')
    .notes(`
The script completes without running gate-sidecar. To install it, add one of these lines to the startup file of the shell:
  bash (~/.bashrc)                   source <(gate-sidecar completion bash)
  zsh (~/.zshrc, after compinit)     source <(gate-sidecar completion zsh)
  fish (~/.config/fish/config.fish)  gate-sidecar completion fish | source`)
    .example('completion bash > /etc/bash_completion.d/gate-sidecar')
    .action((shell: keyof typeof SCRIPTS, { io, json }: CommonOptions) => {
      const script = SCRIPTS[shell](program.name(), levelsOf(program, []))
      io.stdout.write(json ? `${JSON.stringify({ shell, script })}\n` : script)
    })
}

/** Levels of all commands, the program first. */
function levelsOf(command: Command, path: readonly string[]): Level[] {
  const help = command.createHelp()
  const level: Level = {
    path,
    words: [
      ...command.commands.map((child) => ({ name: child.name(), description: child.description() })),
      ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
        argChoices.map((name) => ({ name, description })),
      ),
    ],
    commands: command.commands.map((child) => child.name()),
    options: help.visibleOptions(command).map((option) => ({
      flags: [option.short, option.long].filter((flag) => flag !== undefined),
      description: option.description,
      takesValue: option.required || option.optional,
      choices: option.argChoices ?? [],
    })),
  }
  return [level, ...command.commands.flatMap((child) => levelsOf(child, [...path, child.name()]))]
}
