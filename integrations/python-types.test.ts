import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { PYTHON_FOLDER } from '../test/python.ts'

test('the types of the Python client tell right programs from wrong ones, with pyright', async () => {
  const args = ['-m', 'unittest', '-v', 'tests.test_client_types']
  const { stderr } = await promisify(execFile)('python3', args, { cwd: PYTHON_FOLDER })
  assert.match(stderr, /test_right_and_wrong_programs_are_told_apart .* \.\.\. ok/)
})
