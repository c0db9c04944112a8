import { readFileSync } from 'node:fs'

/** Version in package.json, which lies two folders up from the source and from the built file alike. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
