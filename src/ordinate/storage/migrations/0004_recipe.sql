-- At most one row: how the features were made from the items' texts or images. Without a projection, the last three are
-- NULL; otherwise float64, little endian: `columns` means, and as many numbers for each component, row after row.
CREATE TABLE recipe (
    token VARCHAR NOT NULL PRIMARY KEY REFERENCES study (token),
    encoder TEXT NOT NULL,
    content VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    columns INTEGER,
    mean BLOB,
    components BLOB
);
