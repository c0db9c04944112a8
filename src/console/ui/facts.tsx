import { type ComponentChildren, Fragment } from 'preact'

/** Facts by their names, in this order. One that is undefined or false is left out. */
export function Facts({ of }: { of: Readonly<Record<string, ComponentChildren>> }) {
  return (
    <dl class="facts">
      {Object.entries(of).map(
        ([name, value]) =>
          value !== undefined &&
          value !== false && (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </Fragment>
          ),
      )}
    </dl>
  )
}
