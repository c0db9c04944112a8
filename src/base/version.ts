import { readFileSync } from 'node:fs'

/** The version of package.json, which stands a folder up from the source and from the built file alike. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
