-- Pages of HTML that annotators are shown.
ALTER TABLE items ADD COLUMN html TEXT;
