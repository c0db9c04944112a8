import type { ComponentChildren } from 'preact'
import type { GateError } from '../../client/errors.ts'
import type { Loaded } from '../data/load.ts'
import { Button } from './button.tsx'
import { Text } from './text.tsx'

/** The reason why data is missing, and what the user can do. */
export function Failure({ error, retry }: { error: GateError; retry?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>
        <Text of={error.message} severalLines />
      </p>
      <p class="muted small">
        <code>{error.code}</code>
        {error.requestId && (
          <>
            {' · request '}
            <code>{error.requestId}</code>
          </>
        )}
      </p>
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  )
}

/** The text of an empty list: what it would hold, and how that comes about. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <div class="muted">{children}</div>}
    </div>
  )
}

export function Loading({ what }: { what: string }) {
  return (
    <div class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      Loading {what}…
    </div>
  )
}

interface AwaitProps<T> {
  of: Loaded<T>
  /** The loading data's name, such as `approvals`. */
  what: string
  children: (data: T) => ComponentChildren
}

/** Loaded data, its loading state, or its error. When a later fetch fails, old data and error. */
export function Await<T>({ of: { data, error, isLoading, reload }, what, children }: AwaitProps<T>) {
  if (data === undefined) {
    if (error !== undefined) return <Failure error={error} retry={reload} />
    return isLoading ? <Loading what={what} /> : null
  }
  return (
    <>
      {error && <Failure error={error} retry={reload} />}
      {children(data)}
    </>
  )
}
