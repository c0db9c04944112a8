import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

export interface Step {
  what: string
  run: () => void
}

/** File contents by path, as the keys of a ConfigMap, or its `items`, name them. */
export type Payload = Readonly<Record<string, string>>

function each(names: readonly string[], act: (name: string) => void): void {
  for (const name of names) act(name)
}

const topOf = (path: string): string => path.split('/')[0] ?? path

/**
 * A folder that is written as the kubelet writes a mounted ConfigMap (AtomicWriter of Kubernetes): the files lie in a
 * folder with a time for a name, `..data` leads to it, and what is seen are links through `..data`. A change is one rename.
 */
export function configMap(target: string) {
  mkdirSync(target, { recursive: true })
  let visible: string[] = []

  /** The steps of one update, in the order of the kubelet; after each the folder may be looked at. */
  const update = (payload: Payload): Step[] => {
    const data = join(target, '..data')
    const before = existsSync(data) ? readlinkSync(data) : undefined
    const names = [...new Set(Object.keys(payload).map(topOf))]
    const added = names.filter((name) => !visible.includes(name))
    const removed = visible.filter((name) => !names.includes(name))
    let next = ''
    const writeFiles = (): void => {
      next = mkdtempSync(join(target, '..2026_11_21_12_00_00.'))
      for (const [path, text] of Object.entries(payload)) {
        mkdirSync(dirname(join(next, path)), { recursive: true })
        writeFileSync(join(next, path), text)
      }
    }
    return [
      { what: 'files', run: writeFiles },
      { what: 'links', run: () => each(added, (name) => symlinkSync(join('..data', name), join(target, name))) },
      { what: 'new link', run: () => symlinkSync(next.slice(target.length + 1), join(target, '..data_tmp')) },
      { what: 'exchange', run: () => renameSync(join(target, '..data_tmp'), data) },
      { what: 'old links', run: () => each(removed, (name) => unlinkSync(join(target, name))) },
      {
        what: 'old files',
        run() {
          visible = names
          if (before !== undefined) rmSync(join(target, before), { recursive: true })
        },
      },
    ]
  }
  return {
    update,
    write(payload: Payload): void {
      for (const { run } of update(payload)) run()
    },
  }
}
