import { Fragment } from 'preact'
import { Text } from './text.tsx'

/** A text of others as code. */
export function Code({ of, ...rest }: { of: string; class?: string }) {
  return (
    <code {...rest}>
      <Text of={of} />
    </code>
  )
}

/** The label of a field that confirms an action, by any of these words. */
export function ToConfirm({ words }: { words: readonly string[] }) {
  return (
    <>
      To confirm, type{' '}
      {words.map((word, i) => (
        <Fragment key={word}>
          {i > 0 && ' or '}
          <Code of={word} class="phrase" />
        </Fragment>
      ))}
    </>
  )
}
