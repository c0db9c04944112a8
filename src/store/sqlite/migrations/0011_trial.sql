-- A row that is written to learn whether the file takes a write. It is in no chain and proves nothing.

CREATE TABLE trial (one INTEGER PRIMARY KEY CHECK (one = 1), at TEXT NOT NULL, filler BLOB NOT NULL) STRICT;
