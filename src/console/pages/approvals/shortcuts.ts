import { useEffect, useRef, useState } from 'preact/hooks'

const STORED = 'gate-sidecar-shortcuts'

/** Handlers by `KeyboardEvent.key`. A handler that returns false leaves the key to the browser. */
export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => boolean>>

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
export function useShortcuts(shortcuts: Shortcuts, areLettersOn: boolean): void {
  const latest = useRef({ shortcuts, areLettersOn })
  latest.current = { shortcuts, areLettersOn }
  useEffect(() => {
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

/** True where another element handles the keys. */
function isTaken(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]') !== null) return true
  if (!(target instanceof Element)) return false
  return target.closest('select, textarea, [contenteditable], input:not([type=checkbox])') !== null
}
