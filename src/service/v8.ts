import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Space for new objects that a busy service needs. V8 would take 32 MB, and keep them, for a few percent of processor. */
const NEW_SPACE_BYTES = 8 * 1024 * 1024
/** Growth of the old objects' space between two full collections. V8 would let it grow to several times what lives. */
const GROWTH_PERCENT = 50
const POLL_MS = 250

/** Keeps the heap small from now on: V8 takes limits only when the process starts, but asks for growth factors each time. */
export function limitHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  // A start would double it past the limit before the first poll.
  setFlagsFromString('--semi-space-growth-factor=1')
  const limitNewSpace = (): void => {
    const { space_size = 0 } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space') ?? {}
    setFlagsFromString(`--semi-space-growth-factor=${2 * space_size <= NEW_SPACE_BYTES ? 2 : 1}`)
  }
  setInterval(limitNewSpace, POLL_MS).unref()
}

/**
 * Lets V8 optimize code soon, once the service has started: the start of the program makes it wait. By V8's own value,
 * 135,168, much of a check was not optimized after 20,000 checks.
 */
export function optimizeSoon(): void {
  // Later versions do not know the flag: see bin/optimize-later.js.
  if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=16384')
}
