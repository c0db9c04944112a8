import { readFileSync } from 'node:fs'

/** Folder of package.json, a folder up from this source and from the built files alike. */
export const ROOT = new URL('../', import.meta.url)

export const VERSION: string = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')).version
