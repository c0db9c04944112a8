-- All entries were moved to audit_entry.

DROP TABLE section;
DROP TABLE entry;
