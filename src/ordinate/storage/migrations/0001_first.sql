-- The settings of the study: one row. `token` begins the ids of its queries.
CREATE TABLE study (
    token VARCHAR NOT NULL PRIMARY KEY,
    question TEXT NOT NULL,
    algorithm VARCHAR NOT NULL,
    seed INTEGER NOT NULL,
    scaling VARCHAR NOT NULL,
    refit_every INTEGER,
    candidates INTEGER
);

-- Everything that happened; what each kind of entry fills in is said in log.py.
CREATE TABLE log (
    position INTEGER NOT NULL PRIMARY KEY,
    kind VARCHAR NOT NULL,
    at VARCHAR NOT NULL,
    "query" INTEGER,
    "left" TEXT,
    "right" TEXT,
    answer VARCHAR,
    annotator TEXT,
    based_on INTEGER,
    utility FLOAT,
    algorithm VARCHAR
);

-- `added` is the log entry that added the item.
CREATE TABLE items (
    "row" INTEGER NOT NULL PRIMARY KEY,
    added INTEGER NOT NULL REFERENCES log (position),
    id TEXT NOT NULL UNIQUE,
    item_group TEXT,
    text TEXT,
    image TEXT,
    audio TEXT,
    link TEXT
);
CREATE INDEX ix_items_added ON items (added);

-- One block of numbers for each time items were added: float64, little endian, row after row, in the order of `items`.
-- `names` is JSON, and NULL for a matrix.
CREATE TABLE features (
    added INTEGER NOT NULL PRIMARY KEY REFERENCES log (position),
    items INTEGER NOT NULL,
    columns INTEGER NOT NULL,
    names TEXT,
    numbers BLOB NOT NULL
);
