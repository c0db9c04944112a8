import { readdirSync } from 'node:fs'

/**
 * Runs the tests of a folder in this process, one file after the other: to start a process for each file takes longer than
 * most files take. Not for what measures or changes its process, or prepares with `before`.
 *
 * @param module the address of a module in the folder
 */
export async function importTests(module: string): Promise<void> {
  const folder = new URL('./', module)
  for (const name of readdirSync(folder).sort()) {
    if (name.endsWith('.test.ts')) await import(new URL(name, folder).href)
  }
}
