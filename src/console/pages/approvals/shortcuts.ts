import { useEffect, useRef, useState } from 'preact/hooks'

const STORED = 'gate-sidecar-shortcuts'

/** Keys as `KeyboardEvent.key` has them, and what they do. What gives false leaves the key to the browser. */
export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => boolean>>

/** Whether single letters do something, which who speaks to the computer must be able to turn off (WCAG 2.2, 2.1.4). */
export function useShortcutChoice(): [isOn: boolean, choose: (isOn: boolean) => void] {
  const [isOn, setIsOn] = useState(() => localStorage.getItem(STORED) !== 'off')
  const choose = (on: boolean): void => {
    if (on) localStorage.removeItem(STORED)
    else localStorage.setItem(STORED, 'off')
    setIsOn(on)
  }
  return [isOn, choose]
}

/** Listens to keys while the component is there: never where somebody types, in a dialog, or with a modifier key. */
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

/** True where keys are somebody's answer to something else. */
function isTaken(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]') !== null) return true
  if (!(target instanceof Element)) return false
  return target.closest('select, textarea, [contenteditable], input:not([type=checkbox])') !== null
}
