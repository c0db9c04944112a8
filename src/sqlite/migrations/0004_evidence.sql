-- Signed checkpoints of the Merkle tree over each chain, and what makes proofs quick.

CREATE TABLE checkpoint (
  -- In the order in which they were signed.
  number INTEGER PRIMARY KEY,
  chain TEXT NOT NULL,
  size INTEGER NOT NULL,
  note TEXT NOT NULL,
  UNIQUE (chain, size)
) STRICT;

-- Complete subtrees of 256, 65,536, … leaves.
CREATE TABLE tree_node (
  chain TEXT NOT NULL,
  level INTEGER NOT NULL,
  place INTEGER NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (chain, level, place)
) STRICT, WITHOUT ROWID;

-- The newest checkpoint that each sink of anchors has taken.
CREATE TABLE anchored (sink TEXT PRIMARY KEY, number INTEGER NOT NULL, at TEXT NOT NULL) STRICT;
