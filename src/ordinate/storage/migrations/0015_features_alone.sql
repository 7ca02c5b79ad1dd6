-- Log odds, before any answer, that features say all. Studies from before keep those that were fixed then.
ALTER TABLE study ADD COLUMN features_alone FLOAT NOT NULL DEFAULT 0.7;
