import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const STYLES = new URL('../../src/console/styles/', import.meta.url)
/** Sheets for what every page is made of; the others are each for one page. */
const SHARED = [
  'tokens.css',
  'base.css',
  'shell.css',
  'navigation.css',
  'layout.css',
  'controls.css',
  'data.css',
  'table.css',
  'states.css',
  'explanation.css',
]

/** The first compound of each selector of a sheet, such as `.notice.wrong` of `.notice.wrong p`. */
function beginnings(sheet: string): string[] {
  const text = readFileSync(new URL(sheet, STYLES), 'utf8').replace(/\/\*.*?\*\//gs, '')
  const selectors = [...text.matchAll(/([^{}]+)\{/g)].flatMap(([, list = '']) =>
    list.trim().startsWith('@') ? [] : list.split(','),
  )
  return selectors.map((selector) => selector.trim().split(/[ >+~:[]/)[0] ?? '').filter((name) => name.includes('.'))
}

const sheets = readdirSync(STYLES).filter((name) => name !== 'console.css')
const shared = new Set(SHARED.flatMap(beginnings))

test('a class of one page is styled in the sheet of that page alone: all sheets are one for the browser', () => {
  const owners = new Map<string, string>()
  const twice: string[] = []
  for (const sheet of sheets.filter((name) => !SHARED.includes(name))) {
    for (const beginning of beginnings(sheet)) {
      // An addition to a shared class, such as `.notice.wrong`, belongs to the page; the class itself does not.
      const [first = ''] = beginning.split('.').filter((part) => part !== '')
      const name = shared.has(`.${first}`) ? beginning : `.${first}`
      const owner = owners.get(name) ?? sheet
      owners.set(name, owner)
      if (owner !== sheet) twice.push(`${name}: ${owner}, ${sheet}`)
    }
  }
  assert.deepEqual([...new Set(twice)], [])
})

test('every sheet is part of the one that the page loads', () => {
  const whole = readFileSync(new URL('console.css', STYLES), 'utf8')
  assert.deepEqual(
    sheets.filter((name) => !whole.includes(`@import "./${name}"`)),
    [],
  )
})
