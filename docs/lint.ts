import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createConfig, formatProblems, lintFromString } from '@redocly/openapi-core'
import { openApiText } from './build.ts'
import { slipsIn, slipsInSource } from './style.ts'

/** Lints the OpenAPI document with its examples, and our English: part of `npm run check`. Exit 1 for any problem. */
const config = await createConfig({
  extends: ['recommended-strict'],
  rules: {
    'no-invalid-media-type-examples': 'error',
    'no-invalid-parameter-examples': 'error',
    'no-invalid-schema-examples': 'error',
    'no-required-schema-properties-undefined': 'error',
    'no-unused-components': 'error',
    'operation-description': 'error',
    'operation-operationId': 'error',
    'parameter-description': 'error',
    'tag-description': 'error',
  },
})
/** Claude Code runs the tool for every other status, so that all failures of this operation have status 200. */
const WITHOUT_4XX = '#/paths/~1hooks~1claude-code/post/responses'

const found = await lintFromString({ source: openApiText(), config })
const problems = found.filter(
  ({ ruleId, location }) => ruleId !== 'operation-4xx-response' || location[0]?.pointer !== WITHOUT_4XX,
)
if (problems.length > 0) {
  formatProblems(problems, { format: 'codeframe', totals: { errors: problems.length, warnings: 0, ignored: 0 } })
  process.exitCode = 1
}

/** Pages of others, and the page that quotes what it advises against. */
const NOT_OURS = /^(?:test\/testdata|evaluation\/corpus)\/|^docs\/style\.md$/
const SOURCES = /^src\//
const paths = execFileSync('git', ['ls-files', '*.md', 'src/*.ts', 'src/*.tsx'], { encoding: 'utf8' })
  .trim()
  .split('\n')
for (const path of paths.filter((path) => (path.endsWith('.md') ? !NOT_OURS.test(path) : SOURCES.test(path)))) {
  const slips = path.endsWith('.md') ? slipsIn : slipsInSource
  for (const { line, text, advice } of slips(readFileSync(path, 'utf8'))) {
    console.error(`${path}:${line}: ${text} (${advice}; docs/style.md)`)
    process.exitCode = 1
  }
}
