import { useEffect, useState } from 'preact/hooks'

/** How long somebody stops typing before it counts. */
const SETTLED_MS = 250

/** A text as it was when it changed last for a while. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
