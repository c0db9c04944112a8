import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, join } from 'node:path'
import { memo } from './base/memo.ts'

/** Modules have URLs, the hook's CommonJS file a path. */
const PLACE = /(?:file:\/\/)?(\/[^\s()]+\.c?js):(\d+):(\d+)/g

/**
 * Source map of a file of the build; undefined without one. Read only for an error, which is rare: Node.js would read
 * all of them at each start.
 */
const mapOf = memo((file: string): SourceMap | undefined => {
  const path = `${file}.map`
  return existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8'))) : undefined
})

/** A stack trace with the places in the source for those in the build. */
export function inSource(stack: string): string {
  return stack.replace(PLACE, (place, file: string, line: string, column: string) => {
    const entry = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1)
    if (entry === undefined || !('originalSource' in entry)) return place
    const { originalSource, originalLine, originalColumn } = entry
    return `${join(dirname(file), originalSource)}:${originalLine + 1}:${originalColumn + 1}`
  })
}
