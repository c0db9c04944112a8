import { GateError } from '../../client/errors.ts'

/**
 * Loads a part of the console on first use. A browser remembers a part that failed until it reloads the page, and
 * after an update of the service the parts of this page are no longer there.
 *
 * @throws GateError `unreachable`
 */
export async function loadScript<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    const message = 'This part of the console could not be loaded: the network was interrupted, or the service updated.'
    throw new GateError('unreachable', message, { cause })
  }
}
