import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { SignedIn } from '../../client/api.ts'
import type { Connection } from '../../client/connection.ts'
import type { Endpoints } from '../../client/endpoints.ts'
import type { Stops } from './stops.ts'

export interface Console {
  who: SignedIn
  /** The tenant on display. */
  tenantId: string
  gate: Endpoints
  connection: Connection
  stops: Stops
  /** True if the roles of the key allow this operation. */
  may(operation: SignedIn['may'][number]): boolean
}

export const ConsoleContext = createContext<Console | undefined>(undefined)

/** @throws Error outside a signed-in console */
export function useConsole(): Console {
  const found = useContext(ConsoleContext)
  if (found === undefined) throw new Error('nobody is signed in here')
  return found
}
