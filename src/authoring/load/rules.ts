import {
  type ApprovalTerms,
  type Candidate,
  EFFECTS,
  type Factor,
  RULE_MODES,
  type Rule,
  type Scale,
} from '../../policies/set.ts'
import { keyOf, lastLineOf, lineOf, memberOf, type Node, numberOf, textOf } from '../yaml/node.ts'
import { readCondition } from './conditions.ts'
import { readFactName } from './fact-names.ts'
import { readGlobs } from './globs.ts'
import type { Names } from './names.ts'
import { readReason } from './reason.ts'
import { DEFAULT_RULE_MODE, readTerms } from './settings.ts'

/** Reads a rule; undefined when it is too faulty to be one. Every fault is reported. */
export function readRule(node: Node, names: Names, setTerms: ApprovalTerms): Rule | undefined {
  const candidate = readCandidate(node, names)
  const effect = EFFECTS.find((known) => known === memberOf(node, 'effect')?.value)
  const approval = keyOf(node, 'approval')
  if (approval !== undefined && effect !== undefined && effect !== 'require_approval') {
    names.report.add(
      'GATE1111',
      approval,
      `A rule with effect ${effect} has no approval; remove it, or write effect: require_approval.`,
    )
  }
  const terms = readTerms(memberOf(node, 'approval'), setTerms, names.report)
  const id = textOf(memberOf(node, 'id'))
  const reason = readReason(node, names.report)
  if (id === undefined || reason === undefined || effect === undefined || candidate === undefined) return undefined
  const description = textOf(memberOf(node, 'description'))
  const mode = RULE_MODES.find((known) => known === memberOf(node, 'mode')?.value) ?? DEFAULT_RULE_MODE
  const rule: Rule = { ...candidate, id, endLine: lastLineOf(node), reason, effect, mode, description, terms }
  names.nodes.set(rule, node)
  return rule
}

/** Reads a risk factor; undefined when it is too faulty to be one. Every fault is reported. */
export function readFactor(node: Node, names: Names): Factor | undefined {
  const candidate = readCandidate(node, names)
  const scaleNode = memberOf(node, 'scale')
  const scale = scaleNode && readScale(scaleNode, names)
  const name = textOf(memberOf(node, 'name'))
  const weight = numberOf(memberOf(node, 'weight'))
  if (name === undefined || weight === undefined || candidate === undefined) return undefined
  const factor: Factor = { ...candidate, name, weight, scale }
  names.nodes.set(factor, node)
  return factor
}

function readCandidate(node: Node, names: Names): Candidate | undefined {
  if (node.entries === undefined) return undefined
  const when = memberOf(node, 'when')
  const condition = when && readCondition(when, names)
  const actions = readGlobs(memberOf(node, 'actions'), names.report)
  return { actions, condition, ...lineOf(node) }
}

function readScale(node: Node, names: Names): Scale | undefined {
  const factNode = memberOf(node, 'fact')
  const fact = readFactName(textOf(factNode) === undefined ? undefined : factNode, names)
  const from = numberOf(memberOf(node, 'from'))
  const to = numberOf(memberOf(node, 'to'))
  if (factNode !== undefined && fact?.type !== undefined && fact.type !== 'number' && fact.type !== 'integer') {
    names.report.add('GATE1312', factNode, `A scale needs a number; ${fact.path.text} has the type ${fact.type}.`)
  }
  if (from !== undefined && to !== undefined && from >= to) {
    names.report.add('GATE1311', memberOf(node, 'from') ?? node, `from (${from}) must be below to (${to}).`)
  }
  if (fact === undefined || from === undefined || to === undefined) return undefined
  return { fact: fact.path, from, to }
}
