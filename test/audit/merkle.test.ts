import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  consistencyPath,
  coverOf,
  GrowingTree,
  type Hash,
  inclusionPath,
  isConsistent,
  isIncluded,
  leafHash,
  nodeHash,
} from '../../src/audit/merkle.ts'
import { type HashAt, rootOf } from './root-of.ts'

const bytes = (hex: string): Hash => new Uint8Array(Buffer.from(hex, 'hex'))
const hex = (hash: Hash): string => Buffer.from(hash).toString('hex')

// rfc6962/rfc6962_test.go and proof/verify_test.go of transparency-dev/merkle (Apache-2.0).
const LEAVES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]
const INCLUSION: [index: number, size: number, proof: string[]][] = [
  [0, 1, []],
  [
    0,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    5,
    8,
    [
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [2, 3, ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125']],
  [
    1,
    5,
    [
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
]
const CONSISTENCY: [earlier: number, size: number, proof: string[]][] = [
  [1, 1, []],
  [
    1,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    6,
    8,
    [
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [
    2,
    5,
    [
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
  [
    6,
    7,
    [
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
]

/** Complete subtrees over leaf hashes, found the slow way. */
function subtreesOf(leaves: readonly Hash[]): HashAt {
  const hashAt: HashAt = ({ level, index }) => {
    if (level === 0) return leaves[index] ?? assert.fail(`no leaf ${index}`)
    const below = level - 1
    return nodeHash(hashAt({ level: below, index: 2 * index }), hashAt({ level: below, index: 2 * index + 1 }))
  }
  return hashAt
}

const inclusionProof = (index: number, size: number, at: HashAt): Hash[] =>
  inclusionPath(index, size).map((range) => rootOf(range, at))
const consistencyProof = (earlier: number, size: number, at: HashAt): Hash[] =>
  consistencyPath(earlier, size).map((range) => rootOf(range, at))

const example = LEAVES.map((leaf) => leafHash(bytes(leaf)))
const hashAt = subtreesOf(example)

test('leaves and nodes are hashed as RFC 6962 says', () => {
  assert.equal(
    hex(leafHash(Buffer.from('L123456'))),
    '395aa064aa4c29f7010acfe3f25db9485bbd4b91897b6ad7ad547639252b4d56',
  )
  assert.equal(
    hex(nodeHash(Buffer.from('N123'), Buffer.from('N456'))),
    'aa217fe888e47007fa15edab33c2b492a722cb106c64667fc2b044444de66bbb',
  )
  assert.equal(
    hex(new GrowingTree().root()),
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'of no leaves',
  )
})

for (const [i, root] of ROOTS.entries()) {
  test(`the root of the first ${i + 1} example leaves`, () => {
    assert.equal(hex(rootOf({ begin: 0, end: i + 1 }, hashAt)), root)
    const tree = new GrowingTree()
    for (const leaf of example.slice(0, i + 1)) tree.append(leaf)
    assert.equal(hex(tree.root()), root)
  })
}

for (const [index, size, proof] of INCLUSION) {
  test(`the inclusion proof of leaf ${index} in ${size}, and every change of it`, () => {
    assert.deepEqual(inclusionProof(index, size, hashAt).map(hex), proof)
    const head = { size, root: bytes(ROOTS[size - 1] ?? '') }
    const hashes = proof.map(bytes)
    const leaf = example[index] ?? assert.fail()
    assert.equal(isIncluded(leaf, index, head, hashes), true)
    for (const other of [index - 1, index + 1, index ^ 2]) {
      assert.equal(isIncluded(leaf, other, head, hashes), false, `leaf ${other}`)
    }
    for (const other of [size * 2, Math.floor(size / 2)]) {
      assert.equal(isIncluded(leaf, index, { ...head, size: other }, hashes), false, `size ${other}`)
    }
    assert.equal(isIncluded(leafHash(bytes('ff')), index, head, hashes), false)
    assert.equal(isIncluded(leaf, index, { ...head, root: leaf }, hashes), size === 1)
    for (const changed of changesOf(hashes, head.root)) assert.equal(isIncluded(leaf, index, head, changed), false)
  })
}

for (const [earlier, size, proof] of CONSISTENCY) {
  test(`the consistency proof from ${earlier} to ${size}, and every change of it`, () => {
    assert.deepEqual(consistencyProof(earlier, size, hashAt).map(hex), proof)
    const before = { size: earlier, root: bytes(ROOTS[earlier - 1] ?? '') }
    const after = { size, root: bytes(ROOTS[size - 1] ?? '') }
    const hashes = proof.map(bytes)
    assert.equal(isConsistent(before, after, hashes), true)
    assert.equal(isConsistent(after, before, hashes), earlier === size)
    if (earlier === size) return
    for (const other of [earlier - 1, earlier + 1, earlier ^ 2].filter((one) => one > 0)) {
      assert.equal(isConsistent({ ...before, size: other }, after, hashes), false, `from ${other}`)
    }
    for (const other of [size * 2, Math.floor(size / 2)]) {
      assert.equal(isConsistent(before, { ...after, size: other }, hashes), false, `to ${other}`)
    }
    assert.equal(isConsistent({ ...before, root: after.root }, after, hashes), false)
    assert.equal(isConsistent(before, { ...after, root: before.root }, hashes), false)
    for (const changed of changesOf(hashes, after.root)) assert.equal(isConsistent(before, after, changed), false)
  })
}

/** Returns the proof corrupted in each way that verify_test.go uses. */
function changesOf(proof: readonly Hash[], root: Hash): Hash[][] {
  const flipped = proof.map((hash, i) => proof.with(i, hash.with(0, (hash[0] ?? 0) ^ 8)))
  const shorter = proof.length === 0 ? [] : [proof.slice(0, -1), proof.slice(1)]
  return [[...proof, root], [root, ...proof], [...proof, new Uint8Array()], ...flipped, ...shorter]
}

test('no tree has a leaf at or past its size, and a smaller one never follows', () => {
  const root = example[0] ?? assert.fail()
  assert.equal(isIncluded(root, 0, { size: 0, root }, []), false)
  assert.equal(isIncluded(root, 1, { size: 1, root }, []), false)
  assert.equal(isConsistent({ size: 2, root }, { size: 1, root }, []), false)
  assert.equal(isConsistent({ size: 1, root }, { size: 2, root }, []), false)
  assert.equal(isConsistent({ size: 0, root }, { size: 2, root }, []), true)
  assert.equal(isConsistent({ size: 0, root }, { size: 2, root }, [root]), false)
  assert.throws(() => inclusionPath(8, 8), RangeError)
  assert.throws(() => consistencyPath(9, 8), RangeError)
})

const many = Array.from({ length: 300 }, (_, i) => leafHash(Uint8Array.of(i % 256, i >> 8)))
const manyAt = subtreesOf(many)
const sizes = fc.integer({ min: 1, max: many.length })

test('property: every proof that is made is accepted, and for no other leaf', () => {
  fc.assert(
    fc.property(sizes, fc.nat(), (size, at) => {
      const index = at % size
      const root = rootOf({ begin: 0, end: size }, manyAt)
      const proof = inclusionProof(index, size, manyAt)
      assert.equal(isIncluded(many[index] ?? assert.fail(), index, { size, root }, proof), true)
      const other = (index + 1) % size
      if (other !== index) assert.equal(isIncluded(many[other] ?? assert.fail(), index, { size, root }, proof), false)
    }),
  )
})

test('property: every earlier tree is consistent with every later one, and with no other', () => {
  fc.assert(
    fc.property(sizes, sizes, (a, b) => {
      const [earlier, size] = [Math.min(a, b), Math.max(a, b)]
      const before = { size: earlier, root: rootOf({ begin: 0, end: earlier }, manyAt) }
      const after = { size, root: rootOf({ begin: 0, end: size }, manyAt) }
      const proof = consistencyProof(earlier, size, manyAt)
      assert.equal(isConsistent(before, after, proof), true)
      const forged = { ...before, root: before.root.with(3, (before.root[3] ?? 0) ^ 1) }
      assert.equal(isConsistent(forged, after, proof), false)
    }),
  )
})

test('property: a tree is the same whether it grows leaf by leaf, or takes up what another has grown to', () => {
  fc.assert(
    fc.property(sizes, sizes, (a, b) => {
      const [first, size] = [Math.min(a, b), Math.max(a, b)]
      const taken = new GrowingTree(first, coverOf(0, first).map(manyAt))
      const seen: string[] = []
      for (const { level, index } of coverOf(first, size)) {
        taken.append(manyAt({ level, index }), level, (place, hash) => {
          assert.deepEqual(hash, manyAt(place))
          seen.push(`${place.level}/${place.index}`)
        })
      }
      assert.deepEqual(taken.root(), rootOf({ begin: 0, end: size }, manyAt))
      assert.equal(taken.size, size)
      assert.equal(new Set(seen).size, seen.length)
      assert.deepEqual(taken.copy().root(), taken.root())
    }),
  )
})

test('a tree takes no subtree where none can begin', () => {
  const tree = new GrowingTree()
  tree.append(example[0] ?? assert.fail())
  assert.throws(() => tree.append(example[0] ?? assert.fail(), 1), RangeError)
  assert.throws(() => new GrowingTree(3, [example[0] ?? assert.fail()]), RangeError)
})
