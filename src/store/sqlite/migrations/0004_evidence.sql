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

-- Entries before size were archived and deleted; the newest entry audit.prune of the chain is the signed record of it.
CREATE TABLE pruned (chain TEXT PRIMARY KEY, size INTEGER NOT NULL) STRICT;

DROP TRIGGER entry_no_delete;
CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry
  WHEN old.seq >= coalesce((SELECT size FROM pruned WHERE chain = old.chain), 0)
  BEGIN SELECT raise(ABORT, 'audit entries are never deleted before they are archived'); END;

-- The newest checkpoint that each sink of anchors has taken.
CREATE TABLE anchored (sink TEXT PRIMARY KEY, number INTEGER NOT NULL, at TEXT NOT NULL) STRICT;
