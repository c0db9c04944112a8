import type { TargetedSubmitEvent } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'

/** Accepts files dropped anywhere on the page, or chosen. */
export function DropZone({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const id = useId()
  const isOver = useDrops(onFiles)
  return (
    <div class={isOver ? 'drop-zone over' : 'drop-zone'}>
      <p class="empty-title">Drop a bundle and the trust file here</p>
      <p class="muted small">Both at once, or one after the other. Each file is recognised by its content.</p>
      <label for={id}>Or choose files</label>
      <input
        id={id}
        type="file"
        multiple
        accept=".json,.jsonl,.txt,application/json"
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])])
          // Allows choosing the same file again after a change.
          currentTarget.value = ''
        }}
      />
    </div>
  )
}

/** The whole page accepts drops: a missed file would open in the browser, in place of the console. */
function useDrops(onFiles: (files: readonly File[]) => void): boolean {
  const [isOver, setIsOver] = useState(false)
  const latest = useRef(onFiles)
  latest.current = onFiles
  // Listens as soon as it is visible.
  useLayoutEffect(() => {
    const over = (event: DragEvent): void => {
      event.preventDefault()
      setIsOver(true)
    }
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setIsOver(false)
    }
    const drop = (event: DragEvent): void => {
      event.preventDefault()
      setIsOver(false)
      const files = [...(event.dataTransfer?.files ?? [])]
      if (files.length > 0) latest.current(files)
    }
    const stop = new AbortController()
    const { signal } = stop
    addEventListener('dragover', over, { signal })
    addEventListener('dragleave', leave, { signal })
    addEventListener('drop', drop, { signal })
    return () => stop.abort()
  }, [])
  return isOver
}

export function PasteBox({ onText }: { onText: (text: string) => void }) {
  const [text, setText] = useState('')
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    if (text.trim() === '') return
    onText(text)
    setText('')
  }
  return (
    <details class="paste">
      <summary>Paste text instead</summary>
      <form class="stack" onSubmit={submit}>
        <TextField label="Bundle, trust file or anchors" value={text} onValue={setText} rows={6} isMono />
        <div>
          <Button text="Use this text" type="submit" />
        </div>
      </form>
    </details>
  )
}
