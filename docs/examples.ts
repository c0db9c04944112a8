import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('../integrations/', import.meta.url)

/** Each example of integrations/ as a block of Markdown, by the name of its part: `ai-sdk-pause` is `ai-sdk/pause.ts`. */
export const EXAMPLES: Readonly<Record<string, () => string>> = Object.fromEntries(
  readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
    .flatMap(({ name }) => readdirSync(new URL(`${name}/`, FOLDER)).flatMap((file) => exampleIn(name, file))),
)

function exampleIn(folder: string, file: string): [[string, () => string]] | [] {
  const [, name] = /^(example|pause)\.ts$/.exec(file) ?? []
  if (name === undefined) return []
  const text = (): string => readFileSync(new URL(`${folder}/${file}`, FOLDER), 'utf8')
  return [[`${folder}-${name}`, () => `\`\`\`ts\n${text()}\`\`\``]]
}
