import { failure } from '../data/load.ts'
import { Button } from './button.tsx'
import { useToast } from './toast.tsx'

/** Copies a text, and confirms it. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const tell = useToast()
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      tell('Copied.')
    } catch (error) {
      tell(`Not copied: ${failure(error).message}`)
    }
  }
  return (
    <Button look="quiet copy" aria-label={label} title={label} onClick={() => void copy()}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z" />
      </svg>
    </Button>
  )
}

/** An id or digest of ours, with a copy button. */
export function Id({ of, what }: { of: string; what: string }) {
  return (
    <span class="id">
      <code>{of}</code>
      <CopyButton text={of} label={`Copy ${what}`} />
    </span>
  )
}
