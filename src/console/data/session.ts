import type { SignedIn } from '../../client/api.ts'
import { type Connection, connectAs } from '../../client/connection.ts'
import { GateError } from '../../client/errors.ts'
import { activityHeader } from './activity.ts'
import { noteServerTime } from './clock.ts'

/** Storage key of the token, which only scripts of this origin can read; a cookie that no script can read accompanies it. */
const STORED = 'gate-sidecar-session'
/** Channel by which a new tab asks others of this origin for the token, since each tab has its own storage. */
const TABS = 'gate-sidecar-tabs'
/** Time limit for an answer from another tab. */
const TAB_MS = 150

export interface SignIn {
  who: SignedIn
  token: string
}

/** The reason why nobody is signed in, if there is one to show. */
export type SignedOut = { error?: GateError; notice?: string }

/** Signs in with an API key, or with the code of a link. @throws GateError */
export async function signIn(by: { key: string } | { code: string }): Promise<SignIn> {
  const header: Record<string, string> = 'key' in by ? { 'x-api-key': by.key } : { 'x-sign-in-code': by.code }
  const { token, ...who } = (await connectionWith(header, '').call('openSession', {})).data
  sessionStorage.setItem(STORED, token)
  return { who, token }
}

/** Resumes the session of this tab, or of another one. Undefined without one. @throws GateError unless the session has ended */
export async function resume(): Promise<SignIn | undefined> {
  const token = sessionStorage.getItem(STORED) ?? (await tokenOfAnotherTab())
  if (token === undefined) return undefined
  try {
    const who = (await sessionConnection(token, '').call('getSession', {})).data
    sessionStorage.setItem(STORED, token)
    return { who, token }
  } catch (error) {
    if (!(error instanceof GateError) || error.status !== 401) throw error
    forget()
    return undefined
  }
}

/** Removes this tab's copy of the session. */
export function forget(): void {
  sessionStorage.removeItem(STORED)
}

/** A session's connection for a tenant. @param onLost called when the service no longer knows the session */
export function sessionConnection(token: string, tenantId: string, onLost?: () => void): Connection {
  return connectionWith({ 'x-session-token': token }, tenantId, onLost)
}

function connectionWith(header: Record<string, string>, tenantId: string, onLost?: () => void): Connection {
  const headers = () => ({ ...header, ...(tenantId !== '' && { 'x-tenant-id': tenantId }), ...activityHeader() })
  const send: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    noteServerTime(response.headers.get('date'))
    if (response.status === 401) onLost?.()
    return response
  }
  return connectAs({ tenantId, headers }, { baseUrl: location.origin, fetch: send })
}

/** Answers requests of new tabs for the token. @returns a function that stops it */
export function answerTabs(token: string): () => void {
  const tabs = new BroadcastChannel(TABS)
  tabs.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (data === 'token?') tabs.postMessage({ token })
  }
  return () => tabs.close()
}

function tokenOfAnotherTab(): Promise<string | undefined> {
  const tabs = new BroadcastChannel(TABS)
  return new Promise((resolve) => {
    const done = (token?: string): void => {
      tabs.close()
      resolve(token)
    }
    tabs.onmessage = ({ data }: MessageEvent<unknown>) => {
      const { token } = Object(data)
      if (typeof token === 'string') done(token)
    }
    tabs.postMessage('token?')
    setTimeout(done, TAB_MS)
  })
}
