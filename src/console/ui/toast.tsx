import type { ComponentChildren } from 'preact'
import { createContext } from 'preact'
import { useCallback, useContext, useRef, useState } from 'preact/hooks'
import { Text } from './text.tsx'

/** Long enough to read. Failures are reported at the place of the action, never here. */
const SHOWN_MS = 6000

interface Toast {
  id: number
  text: string
}

const ToastContext = createContext<(text: string) => void>(() => undefined)

/** Announces a completed action, to screen readers too. */
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
