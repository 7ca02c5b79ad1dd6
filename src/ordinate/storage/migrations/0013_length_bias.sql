-- Whether fits take account of annotators who differ in preferring long items; in studies from before they do not.
ALTER TABLE study ADD COLUMN length_bias BOOLEAN NOT NULL DEFAULT 0;
