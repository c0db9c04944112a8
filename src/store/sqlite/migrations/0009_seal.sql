-- Proof for the newest entry of each chain that the holder of the log key appended it.

CREATE TABLE seal (
  chain TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  -- Id of the log key.
  key TEXT NOT NULL,
  mac BLOB NOT NULL CHECK (length(mac) = 32)
) STRICT, WITHOUT ROWID;
