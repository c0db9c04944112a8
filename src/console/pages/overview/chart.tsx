import { useEffect, useRef, useState } from 'preact/hooks'
import type { DecisionBucket, Overview } from '../../../client/api.ts'
import { countText, shortCount } from '../../ui/numbers.ts'
import { axisEnd, KINDS, spanText, type Tick, timeTicks, totalsOf } from './buckets.ts'

const HEIGHT = 200
/** Room for the labels of the axes. */
const LEFT = 40
const BOTTOM = 22
const TOP = 8
/** Width below which every other time label is left out. */
const NARROW = 480
/** Half the width of a label. */
const LABEL_HALF = 22

interface ChartProps {
  of: Overview
  /** The selected bar. */
  chosen: number | undefined
  onChosen: (chosen: number | undefined) => void
}

/** Stacked bars. For the keyboard it is a slider over the bars, which announces the numbers of each. */
export function Chart({ of, chosen, onChosen }: ChartProps) {
  const { decisions, bucketMs } = of
  const frame = useRef<HTMLDivElement>(null)
  const width = useWidth(frame)
  const last = decisions.length - 1
  const at = chosen ?? last
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = keyed(event.key, at, last)
    if (next === undefined) return
    event.preventDefault()
    onChosen(next)
  }
  const onPointerMove = (event: PointerEvent): void => {
    const left = frame.current?.getBoundingClientRect().left ?? 0
    const place = Math.floor(((event.clientX - left - LEFT) / (width - LEFT)) * decisions.length)
    onChosen(place >= 0 && place <= last ? place : undefined)
  }
  const current = decisions[at]
  return (
    <div
      ref={frame}
      class="chart"
      style={{ height: `${HEIGHT}px` }}
      role="slider"
      tabIndex={0}
      aria-label="Decisions, bar by bar"
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at}
      aria-valuetext={current && `${spanText(current.at, { bucketMs })}: ${saidOf(current)}`}
      onKeyDown={onKeyDown}
      onPointerMove={onPointerMove}
      onPointerDown={onPointerMove}
      onPointerLeave={() => onChosen(undefined)}
      onBlur={() => onChosen(undefined)}
    >
      {width > 0 && <Drawing {...{ of, width, chosen }} />}
    </div>
  )
}

function keyed(key: string, at: number, last: number): number | undefined {
  if (key === 'ArrowLeft' || key === 'ArrowDown') return Math.max(0, at - 1)
  if (key === 'ArrowRight' || key === 'ArrowUp') return Math.min(last, at + 1)
  if (key === 'Home') return 0
  return key === 'End' ? last : undefined
}

function saidOf(bucket: DecisionBucket): string {
  return KINDS.map(({ member, label }) => `${label} ${countText(bucket[member])}`).join(', ')
}

function Drawing({ of, width, chosen }: { of: Overview; width: number; chosen: number | undefined }) {
  const { decisions, from, to, completeFrom } = of
  const end = axisEnd(Math.max(...decisions.map((bucket) => totalsOf([bucket]).all)))
  const step = (width - LEFT) / decisions.length
  const xOf = (ms: number): number =>
    LEFT + ((ms - Date.parse(from)) / (Date.parse(to) - Date.parse(from))) * (width - LEFT)
  const completeX = xOf(Date.parse(completeFrom))
  return (
    <svg width={width} height={HEIGHT} aria-hidden="true">
      <Patterns />
      <Axes end={end} width={width} ticks={timeTicks(of).map((tick) => ({ ...tick, x: xOf(tick.atMs) }))} />
      {completeX > LEFT && (
        <rect class="incomplete" x={LEFT} y={TOP} width={completeX - LEFT} height={HEIGHT - TOP - BOTTOM} />
      )}
      {decisions.map((bucket, i) => (
        <Bar key={bucket.at} bucket={bucket} x={LEFT + i * step} width={step} end={end} isChosen={i === chosen} />
      ))}
    </svg>
  )
}

/** Patterns that distinguish the kinds without colour: dots for pending, stripes for denied. */
function Patterns() {
  return (
    <defs>
      <pattern id="pattern-hold" width="4" height="4" patternUnits="userSpaceOnUse">
        <circle class="pattern" cx="2" cy="2" r="0.9" />
      </pattern>
      <pattern id="pattern-deny" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="pattern" width="1.5" height="5" />
      </pattern>
      <pattern id="pattern-allow" width="4" height="4" patternUnits="userSpaceOnUse" />
    </defs>
  )
}

function Axes({ end, width, ticks }: { end: number; width: number; ticks: readonly (Tick & { x: number })[] }) {
  const shown = ticks
    .filter((_, i) => width >= NARROW || i % 2 === 0)
    .filter(({ x }) => x > LEFT + LABEL_HALF && x < width - LABEL_HALF)
  return (
    <g class="axes">
      {[0, end / 2, end].map((value) => (
        <g key={value}>
          <line x1={LEFT} x2={width} y1={yOf(value, end)} y2={yOf(value, end)} />
          <text x={LEFT - 6} y={yOf(value, end) + 4} text-anchor="end">
            {shortCount(value)}
          </text>
        </g>
      ))}
      {shown.map(({ atMs, x, label }) => (
        <g key={atMs}>
          <line x1={x} x2={x} y1={HEIGHT - BOTTOM} y2={HEIGHT - BOTTOM + 4} />
          <text x={x} y={HEIGHT - 4} text-anchor="middle">
            {label}
          </text>
        </g>
      ))}
    </g>
  )
}

interface BarProps {
  bucket: DecisionBucket
  x: number
  width: number
  end: number
  isChosen: boolean
}

function Bar({ bucket, x, width, end, isChosen }: BarProps) {
  const gap = width > 5 ? 1 : 0.5
  let below = 0
  return (
    <g>
      {isChosen && <rect class="chosen" x={x} y={TOP} width={width} height={HEIGHT - TOP - BOTTOM} />}
      {KINDS.filter(({ member }) => bucket[member] > 0).map(({ member, class: name }) => {
        const bottom = yOf(below, end)
        below += bucket[member]
        // One decision among thousands stays visible.
        const height = Math.max(bottom - yOf(below, end), 1.5)
        const place = { x: x + gap, y: bottom - height, width: Math.max(width - 2 * gap, 1), height }
        return (
          <g key={member}>
            <rect class={`bar ${name}`} {...place} />
            <rect fill={`url(#pattern-${name})`} {...place} />
          </g>
        )
      })}
    </g>
  )
}

function yOf(value: number, end: number): number {
  return HEIGHT - BOTTOM - (value / end) * (HEIGHT - TOP - BOTTOM)
}

/** The width of the element in CSS pixels; 0 before it is known. */
function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (element.current === null) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return width
}
