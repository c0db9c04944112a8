import { useErrorBoundary, useMemo } from 'preact/hooks'
import { useConsole } from './data/console.ts'
import { failure, useLoad } from './data/load.ts'
import { usePlace } from './data/place.ts'
import { loadScript } from './data/script.ts'
import { PAGES, type Page } from './pages.ts'
import { PageHead } from './ui/page-head.tsx'
import { Reload } from './ui/reload.tsx'
import { Empty, Failure, Loading } from './ui/states.tsx'

/** The page that the address names; the first permitted one if it names none. */
export function CurrentPage() {
  const { path } = usePlace()
  const { may } = useConsole()
  const visible = PAGES.filter(({ needs }) => may(needs))
  const [first] = visible
  const wanted = path[0] ?? first?.path
  const page = visible.find((candidate) => candidate.path === wanted)
  if (page !== undefined) return <Loaded page={page} key={page.path} />
  const known = PAGES.find((candidate) => candidate.path === wanted)
  return known === undefined ? (
    <>
      <PageHead title="Not found" />
      <Empty title="There is no such page." />
    </>
  ) : (
    <>
      <PageHead title={known.title} />
      <Empty title={`Your key may not see ${known.title}.`}>
        Its roles do not include this page. An owner can create a key that may see it.
      </Empty>
    </>
  )
}

/** Loads the script of a page on first use. A page that fails leaves the rest of the console working, above all the red button. */
function Loaded({ page }: { page: Page }) {
  const { data: Component, error } = useLoad(() => loadScript(page.load), [page.path])
  const [thrown] = useErrorBoundary()
  const fault = useMemo(() => (thrown === undefined ? undefined : failure(thrown)), [thrown]) ?? error
  if (Component && fault === undefined) return <Component />
  return (
    <>
      <PageHead title={page.title} />
      {fault ? (
        <>
          <Failure error={fault} />
          <Reload />
        </>
      ) : (
        <Loading what={page.title} />
      )}
    </>
  )
}
