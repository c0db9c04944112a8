interface SegmentsProps {
  /** The name of the whole, for screen readers. */
  legend: string
  title?: string | undefined
  options: readonly { name: string; isChosen: boolean; onChoose: () => void }[]
}

/** Buttons for a choice of one among a few, in one frame. */
export function Segments({ legend, title, options }: SegmentsProps) {
  return (
    <fieldset class="segments" title={title}>
      <legend class="visually-hidden">{legend}</legend>
      {options.map(({ name, isChosen, onChoose }) => (
        <button key={name} type="button" class="segment" aria-pressed={isChosen} onClick={onChoose}>
          {name}
        </button>
      ))}
    </fieldset>
  )
}
