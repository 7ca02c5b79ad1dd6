-- The prior variances of a study's model. Studies from before keep the ones that were fixed then: 2 and 1.
ALTER TABLE study ADD COLUMN coefficient_variance FLOAT;
ALTER TABLE study ADD COLUMN item_variance FLOAT;
UPDATE study SET coefficient_variance = 2.0 WHERE algorithm <> 'trueskill' AND algorithm NOT LIKE '%-independent';
UPDATE study SET item_variance = 1.0 WHERE algorithm <> 'trueskill' AND algorithm NOT LIKE '%-contextual%';
