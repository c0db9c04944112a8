import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { go } from '../../data/place.ts'
import type { InboxState } from './inbox-state.ts'
import type { VoteKind } from './vote.ts'

const STORED = 'gate-sidecar-shortcuts'
/** Elements that handle Enter themselves. */
const OWN_ENTER = 'a, button, summary'

/** Keyboard shortcuts of the page. None of them votes without a question. */
export function useInboxKeys(inbox: InboxState, areLettersOn: boolean): void {
  const { isAlone, isSelecting, cursor, openId, selection, setQuestion, paneFocus } = inbox
  const moving = (step: number) => () => {
    if (isAlone) return false
    cursor.move(step)
    return true
  }
  const arrow = (step: number) => (event: KeyboardEvent) => (isIn('.inbox-list', event) ? moving(step)() : false)
  useShortcuts(
    {
      j: moving(1),
      k: moving(-1),
      ArrowDown: arrow(1),
      ArrowUp: arrow(-1),
      Enter: (event) => {
        if (isAlone || cursor.id === undefined || isIn(OWN_ENTER, event)) return false
        paneFocus.wish()
        go(inbox.toOpen(cursor.id))
        return true
      },
      x: () => {
        if (isAlone || !isSelecting || cursor.id === undefined) return false
        selection.select([cursor.id], !selection.selected.has(cursor.id))
        return true
      },
      a: (event) => vote('approve', inbox, event),
      r: (event) => vote('reject', inbox, event),
      Escape: () => {
        if (openId === undefined) return false
        inbox.goBack()
        return true
      },
      '?': () => {
        setQuestion('help')
        return true
      },
    },
    areLettersOn,
  )
}

/**
 * Asks about what is shown: the open approval, together with the selection that it is part of. If none is open, about
 * the selection, else the row of the cursor.
 */
function vote(kind: VoteKind, inbox: InboxState, event: KeyboardEvent): boolean {
  const { isAlone, isSelecting, mayVote, cursor, openId, chosen, ask, askSeveral } = inbox
  if (!mayVote) return false
  const isOneMeant =
    isAlone || isIn('.beside', event) || (openId !== undefined && !chosen.some(({ id }) => id === openId))
  const id = openId ?? (cursor.isUsed.current ? cursor.id : undefined)
  if (!isOneMeant && chosen.length > 0) askSeveral(kind, chosen)
  else if (id === undefined || (id !== openId && !isSelecting)) return false
  else ask(kind, id)
  return true
}

function isIn(selector: string, { target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest(selector) !== null
}

/** Handlers by `KeyboardEvent.key`. A handler that returns false leaves the key to the browser. */
type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => boolean>>

/** The choice of single-letter shortcuts, which users of speech input must be able to turn off (WCAG 2.2, 2.1.4). */
export function useShortcutChoice(): [isOn: boolean, choose: (isOn: boolean) => void] {
  const [isOn, setIsOn] = useState(() => localStorage.getItem(STORED) !== 'off')
  const choose = (on: boolean): void => {
    if (on) localStorage.removeItem(STORED)
    else localStorage.setItem(STORED, 'off')
    setIsOn(on)
  }
  return [isOn, choose]
}

/** Handles keys while mounted: never in text fields or dialogs, or with a modifier key. */
function useShortcuts(shortcuts: Shortcuts, areLettersOn: boolean): void {
  const latest = useRef({ shortcuts, areLettersOn })
  latest.current = { shortcuts, areLettersOn }
  // Before the rows are painted: a key that is pressed as they appear counts.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey } = event
      const isLetter = key.length === 1
      if (ctrlKey || metaKey || altKey || event.isComposing || event.defaultPrevented || isTaken(event.target)) return
      if (isLetter && !latest.current.areLettersOn) return
      const act = Object.hasOwn(latest.current.shortcuts, key) ? latest.current.shortcuts[key] : undefined
      if (act?.(event)) event.preventDefault()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
}

/** True if another element handles the keys. */
function isTaken(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]') !== null) return true
  if (!(target instanceof Element)) return false
  return target.closest('select, textarea, [contenteditable], input:not([type=checkbox])') !== null
}
