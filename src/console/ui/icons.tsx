/** Line drawings of 16 by 16, in the colour of adjacent text. */
const PATHS = {
  overview: 'M2 14V8M6 14V3M10 14V6M14 14v-4',
  approvals: 'M2.5 4.5h11v9h-11zM2.5 9.5h3l1 1.5h3l1-1.5h3M8 1.5v5M6 4.8 8 6.7l2-1.9',
  decisions: 'M8 2v4M8 6 3.5 10v3.5M8 6l4.5 4v3.5M8 6v7.5',
  audit: 'M5.5 6.5 3 9a2.5 2.5 0 0 0 3.5 3.5L9 10M10.500 9.5 13 7a2.5 2.5 0 0 0-3.5-3.5L7 6M6.300 9.700l3.400-3.400',
  policies: 'M3.500 1.500h6l3 3v10h-9zM9.500 1.500v3h3M5.500 8h5M5.500 11h5',
  stop: 'M5.300 1.500h5.400l3.800 3.800v5.400l-3.800 3.800H5.300l-3.800-3.800V5.300zM5.500 8h5',
  settings:
    'M10.500 2a3.500 3.500 0 0 0-3.300 4.600L2 11.800V14h2.200v-1.800H6v-1.700h1.700l1-1A3.500 3.500 0 1 0 10.500 2zM11 5h.01',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
