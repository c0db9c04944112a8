import type { ComponentChildren } from 'preact'

/** Facts by their names, in this order. One that is undefined is left out. */
export function Facts({ of }: { of: Readonly<Record<string, ComponentChildren>> }) {
  return (
    <dl class="facts">
      {Object.entries(of).map(([name, value]) => value !== undefined && <Fact key={name} name={name} value={value} />)}
    </dl>
  )
}

function Fact({ name, value }: { name: string; value: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  )
}
