import { resolve } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

/** Runs the files of its arguments in this process, one after the other: most take less time than the start of a process. */
const files = process.argv.slice(2)

async function load(): Promise<void> {
  for (const file of files) await import(pathToFileURL(resolve(file)).href)
}

// Tests run in their order: all others wait for this one, so that none changes the process while files are loaded.
const loaded = load()
test('the files are loaded', () => loaded)
