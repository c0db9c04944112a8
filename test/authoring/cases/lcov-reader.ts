import assert from 'node:assert/strict'

export interface LcovRecord {
  file: string
  /** Hits by line. */
  lines: Map<number, number>
  /** `taken` is undefined for a dash. */
  branches: { line: number; block: number; branch: number; taken: number | undefined }[]
}

/** Reads tracefiles as geninfo(1) describes them; fails for anything else, and for sums that are not those of the lines. */
export function readLcov(text: string): LcovRecord[] {
  assert.ok(text.endsWith('end_of_record\n'), 'it ends with a record')
  return text
    .split('end_of_record\n')
    .slice(0, -1)
    .map((record) => readRecord(record.split('\n').slice(0, -1)))
}

function readRecord(lines: readonly string[]): LcovRecord {
  const [test, source, ...rest] = lines
  assert.equal(test, 'TN:')
  assert.match(source ?? '', /^SF:./)
  const record: LcovRecord = { file: source?.slice(3) ?? '', lines: new Map(), branches: [] }
  const sums = new Map<string, number>()
  for (const text of rest) {
    const [, key = '', value = ''] = /^(DA|BRDA|LF|LH|BRF|BRH):(.*)$/.exec(text) ?? assert.fail(text)
    if (key === 'DA') readLine(value, record)
    else if (key === 'BRDA') readBranch(value, record)
    else {
      assert.ok(/^\d+$/.test(value) && !sums.has(key), text)
      sums.set(key, Number(value))
    }
  }
  const hits = [...record.lines.values()].filter((times) => times > 0).length
  const taken = record.branches.filter((branch) => (branch.taken ?? 0) > 0).length
  assert.deepEqual(Object.fromEntries(sums), {
    LF: record.lines.size,
    LH: hits,
    BRF: record.branches.length,
    BRH: taken,
  })
  return record
}

function readLine(value: string, { lines }: LcovRecord): void {
  const [, line, times] = /^([1-9]\d*),(\d+)$/.exec(value) ?? assert.fail(value)
  assert.ok(!lines.has(Number(line)), `line ${line} stands once`)
  lines.set(Number(line), Number(times))
}

function readBranch(value: string, { branches }: LcovRecord): void {
  const [, line, block, branch, taken] = /^([1-9]\d*),(\d+),(\d+),(-|\d+)$/.exec(value) ?? assert.fail(value)
  const read = {
    line: Number(line),
    block: Number(block),
    branch: Number(branch),
    taken: taken === '-' ? undefined : Number(taken),
  }
  const isKnown = branches.some(
    (one) => one.line === read.line && one.block === read.block && one.branch === read.branch,
  )
  assert.ok(!isKnown, `branch ${value} stands once`)
  branches.push(read)
}
