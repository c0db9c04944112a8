import { useEffect, useState } from 'preact/hooks'

/** From this width on, an approval stands beside the list. */
const WIDE = '(min-width: 64rem)'

export function useIsWide(): boolean {
  const [isWide, setIsWide] = useState(() => matchMedia(WIDE).matches)
  useEffect(() => {
    const media = matchMedia(WIDE)
    const changed = (): void => setIsWide(media.matches)
    media.addEventListener('change', changed)
    return () => media.removeEventListener('change', changed)
  }, [])
  return isWide
}
