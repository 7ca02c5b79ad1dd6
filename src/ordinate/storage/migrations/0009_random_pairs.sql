-- The share of questions whose pair is drawn at random; studies from before have none.
ALTER TABLE study ADD COLUMN random FLOAT NOT NULL DEFAULT 0;
