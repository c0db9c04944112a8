import { decodeText } from '../../authoring/yaml/encoding.ts'
import { boundedCache } from '../../base/bounded-cache.ts'
import { shortened } from '../../base/shortened.ts'
import type { Rule } from '../../policies/set.ts'
import { type FindStored, type StoredSet, type Unexplained, unexplained } from './history.ts'

/** Limit of characters of a shown rule. */
const MAX_RULE_TEXT = 8000
/** Limit of cached rules: several people look at the approvals of one. */
const READY_RULES = 100

export interface RuleText {
  id: string
  file: string
  /** Line number, from 1. */
  line: number
  endLine: number
  /** Whole lines; a longer text is shortened to its beginning and end. */
  text: string
}

/** Finds a rule in the texts of the policies with this digest, or the reason why it is not available. */
export type FindRule = (tenantId: string, digest: string, ruleId: string) => Promise<RuleText | Unexplained>

export function ruleTexts(findStored: FindStored): FindRule {
  const ready = boundedCache<RuleText>(READY_RULES)
  return async (tenantId, digest, ruleId) => {
    const name = JSON.stringify([tenantId, digest, ruleId])
    const known = ready.get(name)
    if (known !== undefined) return known
    // Read from the store even where the set is in force: moved comments change lines and no digest.
    const found = await findStored(tenantId, digest)
    if ('code' in found) return found
    const rule = found.set.rules.find(({ id }) => id === ruleId)
    const text = rule && linesOf(found, rule)
    if (rule === undefined || text === undefined) return unexplained('policy_altered', digest)
    const { file, line, endLine } = rule
    const shown = { id: ruleId, file, line, endLine, text: shortened(text, MAX_RULE_TEXT) }
    ready.put(name, shown)
    return shown
  }
}

function linesOf({ source }: StoredSet, { file, line, endLine }: Rule): string | undefined {
  const written = source.files.find(({ name }) => `${source.tenant}/${name}` === file)
  const lines = written && decodeText(written.bytes).text.split(/\r?\n/)
  return lines?.slice(line - 1, endLine).join('\n')
}
