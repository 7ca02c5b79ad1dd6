-- Whether refits recompute the covariance; in studies from before they do.
ALTER TABLE study ADD COLUMN renew_covariance BOOLEAN NOT NULL DEFAULT 1;
