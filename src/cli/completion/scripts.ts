import { singleQuoted } from '../shell.ts'

/** A command's path of words, and the words that may follow it. */
export interface Level {
  path: readonly string[]
  /** Subcommands, and values of arguments. */
  words: readonly { name: string; description: string }[]
  /** Words that lead to another level. */
  commands: readonly string[]
  options: readonly {
    flags: readonly string[]
    description: string
    takesValue: boolean
    choices: readonly string[]
  }[]
}

/** A single word in all three shells; descriptions become one line. */
function quoted(text: string): string {
  return singleQuoted(text.replaceAll(/\s+/g, ' '))
}

/** fish interprets a backslash in quotes. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll(/\s+/g, ' ').replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

/** Branches of a shell `case` over the levels, shared by bash and zsh. */
function cases(levels: readonly Level[], line: (level: Level) => string): string {
  return levels.map((level) => `    ${quoted(level.path.join(' '))}) ${line(level)} ;;`).join('\n')
}

function levelFinder(name: string, levels: readonly Level[]): string {
  const steps = levels.filter(({ path }) => path.length > 0)
  return `# Sets level to the command that the words lead to. Only commands without subcommands take values.
${name}_level() {
  local word
  level=
  for word in "$@"; do
    case "$level:$word" in
${steps.map(({ path }) => `      ${quoted(`${path.slice(0, -1).join(' ')}:${path.at(-1)}`)}) level=${quoted(path.join(' '))} ;;`).join('\n')}
    esac
  done
}
`
}

/** Choices of options by level and flag. Options with other values complete to file names. */
function choiceCases(levels: readonly Level[], line: (choices: readonly string[]) => string): string {
  return levels
    .flatMap(({ path, options }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .map(({ flags, choices }) => {
          const patterns = flags.map((flag) => quoted(`${path.join(' ')}:${flag}`)).join('|')
          return `    ${patterns}) ${line(choices)} ;;`
        }),
    )
    .join('\n')
}

export function bashScript(program: string, levels: readonly Level[]): string {
  const name = functionName(program)
  const words = ({ words: all, options }: Level) =>
    quoted([...all.map((word) => word.name), ...options.flatMap(({ flags }) => flags)].join(' '))
  return `# bash completion of ${program}: source <(${program} completion bash)
${levelFinder(name, levels)}
${name}() {
  local level candidates cur=\${COMP_WORDS[COMP_CWORD]} flag=\${COMP_WORDS[COMP_CWORD - 1]}
  # bash splits --option=value at the sign.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $flag == = ]]; then
    flag=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  ${name}_level "\${COMP_WORDS[@]:1:COMP_CWORD-1}"
  case "$level:$flag" in
${choiceCases(levels, (choices) => `${choices.length > 0 ? `COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$cur")); ` : ''}return`)}
  esac
  case "$level" in
${cases(levels, (level) => `candidates=${words(level)}`)}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$cur"))
}

complete -o default -F ${name} ${program}
`
}

export function zshScript(program: string, levels: readonly Level[]): string {
  const name = functionName(program)
  const described = (word: string, description: string) => quoted(`${word.replaceAll(':', '\\:')}:${description}`)
  const line = ({ words, options }: Level) => {
    const all = words.map((word) => described(word.name, word.description))
    const flags = options.flatMap((option) => option.flags.map((flag) => described(flag, option.description)))
    return `words_here=(${all.join(' ')}); flags_here=(${flags.join(' ')})`
  }
  return `#compdef ${program}
# zsh completion of ${program}: source <(${program} completion zsh)
${levelFinder(name, levels)}
${name}() {
  local level flag=\${words[CURRENT-1]}
  local -a words_here flags_here
  ${name}_level "\${(@)words[2,CURRENT-1]}"
  case "$level:$flag" in
${choiceCases(levels, (choices) => (choices.length > 0 ? `compadd -- ${choices.map(quoted).join(' ')}; return` : '_files; return'))}
  esac
  case "$level" in
${cases(levels, line)}
  esac
  (( \${#words_here} )) && _describe -t commands command words_here
  _describe -t options option flags_here
  (( \${#words_here} )) || _files
}

compdef ${name} ${program}
`
}

export function fishScript(program: string, levels: readonly Level[]): string {
  const name = `_${functionName(program)}`
  const lines = levels.flatMap((level) => {
    const base = `complete -c ${program} -n ${fishQuoted(`${name}_at ${fishQuoted(level.path.join(' '))}`)}`
    return [
      ...level.words.map((word) => `${base} -f -a ${fishQuoted(word.name)} -d ${fishQuoted(word.description)}`),
      ...level.options.map(({ flags, description, takesValue, choices }) => {
        const forms = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`))
        const value = choices.length > 0 ? ` -x -a ${fishQuoted(choices.join(' '))}` : takesValue ? ' -r' : ''
        return `${base} ${forms.join(' ')}${value} -d ${fishQuoted(description)}`
      }),
    ]
  })
  const steps = levels.filter(({ path }) => path.length > 0)
  return `# fish completion of ${program}: ${program} completion fish | source
function ${name}_at -d 'whether the words before the cursor lead to this command'
    set -l path ''
    for word in (commandline -opc)[2..-1]
        switch "$path:$word"
${steps.map(({ path }) => `            case ${fishQuoted(`${path.slice(0, -1).join(' ')}:${path.at(-1)}`)}\n                set path ${fishQuoted(path.join(' '))}`).join('\n')}
        end
    end
    test "$path" = "$argv[1]"
end

complete -c ${program} -e
${lines.join('\n')}
`
}

function functionName(program: string): string {
  return `_${program.replaceAll('-', '_')}`
}
