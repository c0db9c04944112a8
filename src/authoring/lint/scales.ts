import type { PolicyData } from '../../policies/set.ts'
import type { Names } from '../load/names.ts'
import { memberOf } from '../yaml/node.ts'
import { numbersAround } from './samples.ts'
import type { Search } from './search.ts'

/** Reports scales that are constant for every number that the schemas admit. */
export function reportScales(set: PolicyData, names: Names, search: Search): void {
  for (const factor of set.factors) {
    const { scale } = factor
    if (scale === undefined) continue
    const { constants, admits } = search.knownOf(scale.fact, factor.actions)
    const bounds = constants.filter((one) => typeof one === 'number')
    const possible = numbersAround([scale.from, scale.to, ...bounds]).filter(admits)
    const node = memberOf(names.nodes.get(factor), 'scale')
    if (node === undefined || possible.length === 0) continue
    const limit = 'the schemas of its actions let no number'
    if (possible.every((one) => one <= scale.from)) {
      const message = `The scale never adds anything: ${limit} above ${scale.from} through. Lower from, or take the factor out.`
      names.report.add('GATE2019', memberOf(node, 'from') ?? node, message)
    } else if (possible.every((one) => one >= scale.to)) {
      const message = `The scale always adds the whole weight: ${limit} below ${scale.to} through. Raise to, or leave the scale out.`
      names.report.add('GATE2019', memberOf(node, 'to') ?? node, message)
    }
  }
}
