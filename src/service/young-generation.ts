import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Room for new objects that a busy service gets along with. V8 would give them 32 MB, and keep them, for a few percent of processor. */
const ENOUGH_BYTES = 8 * 1024 * 1024
const POLL_MS = 250

/** Keeps the room for new objects small from now on: V8 takes a limit only when the process starts, but asks how fast to grow each time. */
export function limitYoungGeneration(): void {
  const look = (): void => {
    const { space_size = 0 } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space') ?? {}
    setFlagsFromString(`--semi-space-growth-factor=${space_size < ENOUGH_BYTES ? 2 : 1}`)
  }
  look()
  setInterval(look, POLL_MS).unref()
}
