import { readFileSync } from 'node:fs'

const FOLDER = new URL('../testdata/vectors/', import.meta.url)

/** The text of an official vector; testdata/vectors/SOURCE.md says where each comes from. */
export function vectorText(path: string): string {
  return readFileSync(new URL(path, FOLDER), 'utf8')
}

export function vectorLines(path: string): string[] {
  return vectorText(path).trimEnd().split('\n')
}
