-- Whether annotators' answers are weighted by their sharpness; in studies from before they are not.
ALTER TABLE study ADD COLUMN weigh_annotators BOOLEAN NOT NULL DEFAULT 0;
