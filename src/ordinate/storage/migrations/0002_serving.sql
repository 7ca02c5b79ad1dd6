-- What serving a study needs: leases, when a pair was shown and answered, repeats, rules and links; videos.
ALTER TABLE log ADD COLUMN strategy TEXT;
ALTER TABLE log ADD COLUMN model TEXT;
ALTER TABLE log ADD COLUMN expires_at VARCHAR;
ALTER TABLE log ADD COLUMN tab TEXT;
ALTER TABLE log ADD COLUMN repeat_of INTEGER;
ALTER TABLE log ADD COLUMN shown_at VARCHAR;
ALTER TABLE log ADD COLUMN answered_at VARCHAR;
ALTER TABLE log ADD COLUMN duration_ms INTEGER;
ALTER TABLE log ADD COLUMN client TEXT;
ALTER TABLE log ADD COLUMN reason TEXT;
ALTER TABLE log ADD COLUMN "key" TEXT;
ALTER TABLE log ADD COLUMN name TEXT;
ALTER TABLE log ADD COLUMN value TEXT;
ALTER TABLE items ADD COLUMN video TEXT;
