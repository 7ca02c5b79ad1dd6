"""The tables of a stored study. A person can read them: one row of settings, the items, their features, the log.

The migrations in migrations/versions make these tables; a test holds the two together.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    true,
)

# Every revision of the tables, oldest first. A study is opened at the last one only.
REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006")

metadata = MetaData()

study = Table(
    "study",
    metadata,
    Column("token", String, primary_key=True),
    Column("question", Text, nullable=False),
    Column("algorithm", String, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("scaling", String, nullable=False),
    Column("refit_every", Integer),
    Column("candidates", Integer),
    Column("coefficient_variance", Float),
    Column("item_variance", Float),
    Column("renew_covariance", Boolean, nullable=False, server_default=true()),
)

# At most one row: how the features were made from the items' texts or images. Without a projection, the last three are
# empty; else float64, little endian: `columns` means, and as many numbers for each component, row after row.
recipe = Table(
    "recipe",
    metadata,
    Column("token", String, ForeignKey("study.token"), primary_key=True),
    Column("encoder", Text, nullable=False),
    Column("content", String, nullable=False),
    Column("fingerprint", String, nullable=False),
    Column("columns", Integer),
    Column("mean", LargeBinary),
    Column("components", LargeBinary),
)

log = Table(
    "log",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("kind", String, nullable=False),
    Column("at", String, nullable=False),
    Column("query", Integer),
    Column("left", Text),
    Column("right", Text),
    Column("answer", String),
    Column("annotator", Text),
    Column("based_on", Integer),
    Column("utility", Float),
    Column("algorithm", String),
    Column("strategy", Text),
    Column("model", Text),
    Column("expires_at", String),
    Column("tab", Text),
    Column("repeat_of", Integer),
    Column("shown_at", String),
    Column("answered_at", String),
    Column("duration_ms", Integer),
    Column("client", Text),
    Column("reason", Text),
    Column("key", Text),
    Column("name", Text),
    Column("value", Text),
)

items = Table(
    "items",
    metadata,
    Column("row", Integer, primary_key=True, autoincrement=False),
    Column("added", Integer, ForeignKey("log.position"), nullable=False, index=True),
    Column("id", Text, nullable=False, unique=True),
    Column("item_group", Text),
    Column("text", Text),
    Column("image", Text),
    Column("audio", Text),
    Column("link", Text),
    Column("video", Text),
)

# One block of numbers for each time items were added: float64, little endian, row after row, in the order of `items`.
features = Table(
    "features",
    metadata,
    Column("added", Integer, ForeignKey("log.position"), primary_key=True, autoincrement=False),
    Column("items", Integer, nullable=False),
    Column("columns", Integer, nullable=False),
    Column("names", Text),  # JSON; empty for a matrix
    Column("numbers", LargeBinary, nullable=False),  # empty where they stay in a file
)

# Where the numbers of a block stay in a .npy file, and what it held; the path is absolute or from the study's folder.
feature_files = Table(
    "feature_files",
    metadata,
    Column("added", Integer, ForeignKey("log.position"), primary_key=True, autoincrement=False),
    Column("path", Text, nullable=False),
    Column("sha256", String, nullable=False),
    Column("bytes", Integer, nullable=False),
    Column("modified_ns", BigInteger, nullable=False),
)
