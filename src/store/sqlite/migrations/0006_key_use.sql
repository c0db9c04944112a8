-- When each key was used last, as a service remembers it and writes it down about once a minute. It is in no chain and proves nothing.

CREATE TABLE key_use (key_id TEXT PRIMARY KEY, at TEXT NOT NULL) STRICT;
