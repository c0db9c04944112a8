import { render } from 'preact'
import { watchActivity } from './data/activity.ts'
import { applyTheme } from './data/theme.ts'
import { Root } from './root.tsx'

applyTheme()
watchActivity()
const place = document.getElementById('console')
if (place !== null) render(<Root />, place)
