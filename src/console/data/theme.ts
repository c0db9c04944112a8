export const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const STORED = 'gate-sidecar-theme'

/** The theme chosen earlier in this browser; else the system's. */
export function chosenTheme(): Theme {
  const stored = localStorage.getItem(STORED)
  return THEMES.find((theme) => theme === stored) ?? 'auto'
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(STORED, theme)
  applyTheme()
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = chosenTheme()
}
