-- The owner who did it, where one did through a server; nobody knows it of entries from before.
ALTER TABLE log ADD COLUMN "by" TEXT;
