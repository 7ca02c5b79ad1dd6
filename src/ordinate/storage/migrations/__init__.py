"""Numbered changes of the tables, for Alembic. One file each in versions/, never edited once released."""
