import type { ComponentChildren } from 'preact'
import { createContext } from 'preact'
import { useCallback, useContext, useRef, useState } from 'preact/hooks'
import { Text } from './text.tsx'

/** How long it is shown: long enough to be read, and what can fail is told where it was done, not here. */
const SHOWN_MS = 6000

interface Toast {
  id: number
  text: string
}

const ToastContext = createContext<(text: string) => void>(() => undefined)

/** Tells that something was done, to screen readers too. */
export function useToast(): (text: string) => void {
  return useContext(ToastContext)
}

export function Toasts({ children }: { children: ComponentChildren }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([])
  const next = useRef(0)
  const tell = useCallback((text: string) => {
    const id = next.current++
    setToasts((shown) => [...shown, { id, text }])
    setTimeout(() => setToasts((shown) => shown.filter((toast) => toast.id !== id)), SHOWN_MS)
  }, [])
  return (
    <ToastContext.Provider value={tell}>
      {children}
      <div class="toasts" role="status">
        {toasts.map(({ id, text }) => (
          <p key={id}>
            <Text of={text} />
          </p>
        ))}
      </div>
    </ToastContext.Provider>
  )
}
