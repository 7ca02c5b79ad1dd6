-- The likelihood of a study's model, where it has a choice of one; studies from before have the logistic one.
ALTER TABLE study ADD COLUMN likelihood VARCHAR;
UPDATE study SET likelihood = 'logistic' WHERE algorithm <> 'trueskill' AND algorithm NOT LIKE '%-sequential%';
