import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Runs the files of its arguments in this process, one after the other: most take less time than the start of a process. */
for (const file of process.argv.slice(2)) await import(pathToFileURL(resolve(file)).href)
