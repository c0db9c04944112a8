import { writeFileSync } from 'node:fs'
import { reportOfAll } from './broken.ts'
import { TESTDATA } from './sources.ts'

writeFileSync(new URL('report.txt', TESTDATA), reportOfAll())
