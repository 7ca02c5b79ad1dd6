-- Whether fits take account of annotators who prefer a side; in studies from before they do not.
ALTER TABLE study ADD COLUMN side_bias BOOLEAN NOT NULL DEFAULT 0;
