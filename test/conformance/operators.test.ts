import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { inTheirWords } from '../../conformance/answers.ts'
import { askCode, load } from '../../conformance/compare.ts'
import { askedBy } from '../../conformance/conditions.ts'
import type { AgtAction, AgtRule } from '../../conformance/table.ts'
import { translate } from '../../conformance/translate.ts'
import type { Json } from '../../src/base/json.ts'

const MISSING = undefined
const VALUES: readonly (Json | undefined)[] = [
  ...[MISSING, null, '', 'x', 'xy', '1', 'True', 0, 1, 5, 2.5, true, false],
  ...[[], ['x'], ['y', 'z'], [1], [true], [0, 5], ['x', 1], ['y', true], [['x']], [null], {}, { x: 1 }, { y: 2 }],
]

/**
 * Results of the toolkit's evaluator for each of the values: True, False or Error, found by running its comparisons in
 * CPython 3.11. A small letter is a value that our language refuses on purpose.
 */
const ROWS: readonly [operator: string, constant: Json, answers: string][] = [
  ['eq', 'x', 'FFFTFFFFFFFFFFFFFFFFFFFFFF'],
  ['eq', '', 'FFTFFFFFFFFFFFFFFFFFFFFFFF'],
  ['eq', 1, 'FFFFFFFFTFFTFFFFFFFFFFFFFF'],
  ['eq', 5, 'FFFFFFFFFTFFFFFFFFFFFFFFFF'],
  ['eq', 2.5, 'FFFFFFFFFFTFFFFFFFFFFFFFFF'],
  ['eq', true, 'FFFFFFFFTFFTFFFFFFFFFFFFFF'],
  ['eq', false, 'FFFFFFFTFFFFTFFFFFFFFFFFFF'],
  ['eq', null, 'FFFFFFFFFFFFFFFFFFFFFFFFFF'],
  ['eq', ['x'], 'FFFFFFFFFFFFFftfffffffffff'],
  ['eq', { x: 1 }, 'FFFFFFFFFFFFFffffffffffftf'],
  ['ne', 'x', 'FFTFTTTTTTTTTTTTTTTTTTTTTT'],
  ['ne', 1, 'FFTTTTTTFTTFTTTTTTTTTTTTTT'],
  ['ne', true, 'FFTTTTTTFTTFTTTTTTTTTTTTTT'],
  ['ne', null, 'FFTTTTTTTTTTTTTTTTTTTTTTTT'],
  ['ne', ['x'], 'FFTTTTTTTTTTTtfttttttttttt'],
  ['gt', 'x', 'FFFFTFFEEEEEEEEEEEEEEEEEEE'],
  ['gt', 'xa', 'FFFFTFFEEEEEEEEEEEEEEEEEEE'],
  ['gt', 1, 'FFEEEEEFFTTFFEEEEEEEEEEEEE'],
  ['gt', 0, 'FFEEEEEFTTTTFEEEEEEEEEEEEE'],
  ['gt', 5, 'FFEEEEEFFFFFFEEEEEEEEEEEEE'],
  ['gt', true, 'FFEEEEEFFTTFFEEEEEEEEEEEEE'],
  ['gt', null, 'FFEEEEEEEEEEEEEEEEEEEEEEEE'],
  ['gt', [1], 'FFEEEEEEEEEEEfeefffeeeeEEE'],
  ['gt', {}, 'FFEEEEEEEEEEEEEEEEEEEEEEEE'],
  ['gte', 'x', 'FFFTTFFEEEEEEEEEEEEEEEEEEE'],
  ['gte', 1, 'FFEEEEEFTTTTFEEEEEEEEEEEEE'],
  ['gte', 2.5, 'FFEEEEEFFTTFFEEEEEEEEEEEEE'],
  ['gte', false, 'FFEEEEETTTTTTEEEEEEEEEEEEE'],
  ['lt', 'x', 'FFTFFTTEEEEEEEEEEEEEEEEEEE'],
  ['lt', 1, 'FFEEEEETFFFFTEEEEEEEEEEEEE'],
  ['lt', 5, 'FFEEEEETTFTTTEEEEEEEEEEEEE'],
  ['lt', true, 'FFEEEEETFFFFTEEEEEEEEEEEEE'],
  ['lte', 'x', 'FFTTFTTEEEEEEEEEEEEEEEEEEE'],
  ['lte', '1', 'FFTFFTFEEEEEEEEEEEEEEEEEEE'],
  ['lte', 0, 'FFEEEEETFFFFTEEEEEEEEEEEEE'],
  ['lte', 2.5, 'FFEEEEETTFTTTEEEEEEEEEEEEE'],
  ['in', ['x', '1'], 'FFFTFTFFFFFFFFFFFFFFFFFFFF'],
  ['in', ['x', 1, false], 'FFFTFFFTTFFTTFFFFFFFFFFFFF'],
  ['in', [true], 'FFFFFFFFTFFTFFFFFFFFFFFFFF'],
  ['in', [5, 2.5], 'FFFFFFFFFTTFFFFFFFFFFFFFFF'],
  ['in', [], 'FFFFFFFFFFFFFFFFFFFFFFFFFF'],
  ['in', [null], 'FFFFFFFFFFFFFFFFFFFFFFFFFF'],
  ['in', [['x'], 'y'], 'FFFFFFFFFFFFFftfffffffffff'],
  ['in', 'xyz', 'FFTTTFFEEEEEEEEEEEEEEEEEEE'],
  ['in', '', 'FFTFFFFEEEEEEEEEEEEEEEEEEE'],
  ['in', { x: 1 }, 'FFFTFFFFFFFFFEEEEEEEEEEEEE'],
  ['in', {}, 'FFFFFFFFFFFFFEEEEEEEEEEEEE'],
  ['in', 5, 'FFEEEEEEEEEEEEEEEEEEEEEEEE'],
  ['in', true, 'FFEEEEEEEEEEEEEEEEEEEEEEEE'],
  ['in', null, 'FFEEEEEEEEEEEEEEEEEEEEEEEE'],
  ['not_in', ['x', '1'], 'FFTFTFTTTTTTTTTTTTTTTTTTTT'],
  ['not_in', [1], 'FFTTTTTTFTTFTTTTTTTTTTTTTT'],
  ['not_in', [], 'FFTTTTTTTTTTTTTTTTTTTTTTTT'],
  ['not_in', 'xyz', 'FFFFFTTEEEEEEEEEEEEEEEEEEE'],
  ['not_in', { x: 1 }, 'FFTFTTTTTTTTTEEEEEEEEEEEEE'],
  ['not_in', 5, 'FFEEEEEEEEEEEEEEEEEEEEEEEE'],
  ['not_in', [['x']], 'FFTTTTTTTTTTTtfttttttttttt'],
  ['contains', 'x', 'FFFTTFFEEEEEEFTFFFFTFffftf'],
  ['contains', '', 'FFTTTTTEEEEEEFFFFFFFFfffff'],
  ['contains', '.', 'FFFFFFFEEEEEEFFFFFFFFfffff'],
  ['contains', 1, 'FFEEEEEEEEEEEFFFTTFTTfffff'],
  ['contains', true, 'FFEEEEEEEEEEEFFFTTFTTfffff'],
  ['contains', 5, 'FFEEEEEEEEEEEFFFFFTFFfffff'],
  ['contains', null, 'FFEEEEEEEEEEEffffffffftfff'],
  ['contains', ['x'], 'FFEEEEEEEEEEEfffffffftfEEE'],
  ['contains', {}, 'FFEEEEEEEEEEEffffffffffEEE'],
  ['matches', '^x', 'FFFTTFFfffffffffffffffffff'],
  ['matches', '', 'FFTTTTTttttttttttttttttttt'],
  ['matches', 'x$', 'FFFTFFFfffffffffffffffffff'],
  ['matches', '(?i)X', 'FFFTTFFffffffftfffftftfftf'],
  ['matches', '(', 'FFEEEEEEEEEEEEEEEEEEEEEEEE'],
  ['matches', '1', 'FFFFFTFftffffffftfftfffftf'],
  ['matches', 5, 'FFFFFFFffttffffffftfffffff'],
  ['matches', true, 'FFFFFFTfffftffffftfftfffff'],
  ['matches', null, 'FFFFFFFffffffffffffffftfff'],
  ['matches', '(?=x)', 'FFfttffffffffftfffftftfftf'],
  ['matches', '^(?:x|1)$', 'FFFTFTFftfffffffffffffffff'],
]

/** A rule alone, as one that refuses and one that permits, so that each of T, F and E is seen. */
const FORMS: readonly [action: AgtAction, otherwise: AgtAction][] = [
  ['deny', 'allow'],
  ['block', 'audit'],
  ['allow', 'deny'],
  ['audit', 'block'],
]

for (const [operator, value, answers] of ROWS) {
  test(`${operator} ${JSON.stringify(value)} answers every type of value as the toolkit does`, async () => {
    const rule: Omit<AgtRule, 'action'> = { name: 'rule', field: 'field', operator, value, priority: 0 }
    const { refuses } = askedBy(rule)
    assert.equal(answers.length, VALUES.length)
    const forms = FORMS.map(([action, otherwise]) => {
      const policy = { id: 'p', path: 'p', name: 'p', defaultAction: otherwise, rules: [{ ...rule, action }] }
      return { action, otherwise, loaded: load(translate(policy, 'p')) }
    })
    for (const [i, seen] of VALUES.entries()) {
      const answer = answers[i] ?? ''
      const isRefused = seen !== undefined && seen !== null && refuses(seen) !== undefined
      assert.equal(isRefused, answer !== answer.toUpperCase(), `refused for ${JSON.stringify(seen)}`)
      for (const { action, otherwise, loaded } of isRefused ? [] : forms) {
        const decided = await askCode(loaded, seen === undefined ? {} : { field: seen })
        assert.deepEqual(
          inTheirWords(decided, loaded.translation),
          expected(answer, action, otherwise),
          `${action} for ${JSON.stringify(seen)}`,
        )
      }
    }
  })
}

function expected(answer: string, action: AgtAction, otherwise: AgtAction) {
  if (answer === 'E') return { action: 'deny', allowed: false, matched_rule: null, evaluation_error: true }
  const done = answer === 'T' ? action : otherwise
  const allowed = done === 'allow' || done === 'audit'
  return { action: done, allowed, matched_rule: answer === 'T' ? 'rule' : null, evaluation_error: false }
}

const REFUSED: readonly [operator: string, constant: Json, reason: RegExp][] = [
  ['matches', '(?=a)b', /ahead or behind/],
  ['matches', '(?<!a)b', /ahead or behind/],
  ['matches', '(a)\\1', /earlier groups/],
  ['matches', '(?P<n>a)(?P=n)', /earlier groups/],
  ['matches', '(?>a)', /atomic/],
  ['matches', 'a++', /possessive/],
  ['matches', '(a)?(?(1)b|c)', /conditional/],
  ['matches', '\\N{DIGIT ONE}', /names of characters/],
  ['matches', '(?ai)k', /ASCII/],
  ['matches', '(a$)\\n', /line feed/],
  ['matches', '[^\\Wa]', /of a word/],
  ['matches', 'a{1001}', /RE2 does not compile/],
  ['matches', 'a'.repeat(1001), /longer than 1000/],
  ['matches', 0.5, /a pattern is a text/],
  ['matches', ['a'], /a pattern is a text/],
  ['eq', 2 ** 60, /beyond 2\^53/],
  ['in', ['\ud800'], /surrogate/],
  ['in', 'a'.repeat(101), /parts of a text/],
  ['gt', 'a'.repeat(200), /order of long texts/],
]

for (const [operator, value, reason] of REFUSED) {
  test(`${operator} ${JSON.stringify(value).slice(0, 40)} is refused with its reason, and does not permit`, async () => {
    for (const action of ['allow', 'deny'] as const) {
      const rule: AgtRule = { name: 'rule', field: 'field', operator, value, priority: 0, action }
      const loaded = load(translate({ id: 'p', path: 'p', name: 'p', defaultAction: 'deny', rules: [rule] }, 'p'))
      const { translation, yaml, set } = loaded
      assert.equal(translation.refusals.length, 1)
      assert.match(translation.refusals[0]?.reason ?? '', reason)
      assert.match(yaml, /^# Not said here: rule rule: /m)
      assert.notEqual(set, undefined)
      assert.equal((await askCode(loaded, { field: 'a' })).decision, 'deny')
    }
  })
}
