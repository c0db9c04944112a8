import { readFileSync } from 'node:fs'
import { test } from 'node:test'

/** Reason that a package's tests cannot run here, by the Node.js that it declares; undefined when they can. */
export function unfitFor(name: string): string | undefined {
  const file = new URL(`./node_modules/${name}/package.json`, import.meta.url)
  const { version, engines }: { version: string; engines?: { node?: string } } = JSON.parse(readFileSync(file, 'utf8'))
  const wanted = Number(/^>=\s*(\d+)/.exec(engines?.node ?? '>=0')?.[1])
  const [major] = process.versions.node.split('.')
  if (Number(major) >= wanted) return undefined
  return `${name} ${version} needs Node.js ${engines?.node}, and this is ${process.versions.node}`
}

/** `test`, for tests that need the package. */
export function testWith(name: string): (promise: string, run: () => Promise<void>) => void {
  const skip = unfitFor(name)
  return (promise, run) => void test(promise, skip === undefined ? {} : { skip }, run)
}
