import type { PolicyTexts } from '../../../client/api.ts'
import type { Loaded } from '../../data/load.ts'
import { addressOf, usePlace } from '../../data/place.ts'
import { nameOf } from '../../data/policy-address.ts'
import { Link } from '../../ui/link.tsx'
import { bytesText } from '../../ui/numbers.ts'
import { Await, Empty } from '../../ui/states.tsx'
import { Text } from '../../ui/text.tsx'
import { FileText } from './file-text.tsx'

/** Without data for roles without read access. */
export type Texts = Loaded<PolicyTexts | undefined>

/** The texts of the policies in force, at the line in the address. */
export function SourceView({ of }: { of: Texts }) {
  return (
    <Await of={of} what="the source">
      {(texts) => (texts === undefined || texts.files.length === 0 ? <NoSource /> : <Files of={texts} />)}
    </Await>
  )
}

function NoSource() {
  return <Empty title="No policies are in force.">Their files appear here.</Empty>
}

function Files({ of: { digest, files, lists } }: { of: PolicyTexts }) {
  const { query } = usePlace()
  const wanted = query.get('file')
  const isOther = ![null, digest].includes(query.get('digest'))
  const line = Number(query.get('line') ?? 0)
  const file = wanted === null ? files[0] : files.find(({ name }) => name === nameOf(wanted))
  return (
    <>
      {isOther && (
        <p class="notice" role="status">
          The line in the link belongs to other policies. The policies in force are shown here.
        </p>
      )}
      <div class="source">
        <div class="stack">
          <nav class="card" aria-label="Files">
            <h2>Files</h2>
            <ul class="file-list">
              {files.map(({ name, bytes }) => (
                <li key={name}>
                  <Link to={addressOf(['policies', 'source'], { file: name })} current={name === file?.name}>
                    <Text of={name} />
                    <span class="muted small">{bytesText(bytes)}</span>
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
          {lists.length > 0 && (
            <section class="card" aria-label="Lists">
              <h2>Lists</h2>
              <ul class="file-list">
                {lists.map(({ path, bytes }) => (
                  <li key={path}>
                    <span>
                      <Text of={path} />
                      <span class="muted small">{bytesText(bytes)}</span>
                    </span>
                  </li>
                ))}
              </ul>
              <p class="muted small">Only the size of lists is shown.</p>
            </section>
          )}
        </div>
        {file === undefined ? (
          <Empty title="There is no such file in the policies in force.">An earlier set may have had it.</Empty>
        ) : file.text === null ? (
          <Empty title="This text is not shown here.">The files of the set have more than 8 MiB together.</Empty>
        ) : (
          <FileText key={file.name} name={file.name} text={file.text} line={line} />
        )}
      </div>
    </>
  )
}
