import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGES = fileURLToPath(new URL('../node_modules/', import.meta.url))
/** Packaged fonts, so that pages look the same on every machine; the last has nearly every script of hostile texts. */
const FOLDERS = ['@expo-google-fonts/inter', '@expo-google-fonts/jetbrains-mono', 'dejavu-fonts-ttf/ttf']

/** Font of each generic family. */
const FAMILIES = [
  ['system-ui', 'Inter'],
  ['sans-serif', 'Inter'],
  ['ui-monospace', 'JetBrains Mono'],
  ['monospace', 'JetBrains Mono'],
]

/** Writes the configuration of fontconfig into a folder. @returns variables by which a browser takes it */
export function writeFontConfig(folder: string): Record<string, string> {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'fonts.conf')
  const text = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
${FOLDERS.map((name) => `  <dir>${join(PACKAGES, name)}</dir>`).join('\n')}
  <cachedir>${join(folder, 'cache')}</cachedir>
${FAMILIES.map(([family, font]) => `  <alias binding="strong"><family>${family}</family><prefer><family>${font}</family><family>DejaVu Sans</family></prefer></alias>`).join('\n')}
</fontconfig>
`
  writeFileSync(file, text)
  return { FONTCONFIG_FILE: file }
}
