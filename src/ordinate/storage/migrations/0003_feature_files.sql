-- Where the numbers of a block stay in a .npy file, and what it held. `numbers` in `features` is empty then; the path is
-- absolute, or relative to the study's folder.
CREATE TABLE feature_files (
    added INTEGER NOT NULL PRIMARY KEY REFERENCES log (position),
    path TEXT NOT NULL,
    sha256 VARCHAR NOT NULL,
    bytes INTEGER NOT NULL,
    modified_ns BIGINT NOT NULL
);
