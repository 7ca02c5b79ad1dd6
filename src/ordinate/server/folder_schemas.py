"""What the API for the owner of a server takes and gives: studies of a folder, and files that are dropped."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ordinate.server.schemas import CreateOptions, Given, ItemShown, LinkShown, Short, Text
from ordinate.server.workspace import NAME
from ordinate.study.rules import Stage

StudyNameGiven = Annotated[str, Field(pattern=NAME)]
Column = Annotated[str, Field(max_length=1000)]


class StudyLine(BaseModel):
    study: str
    question: str
    items: int
    answers: int
    state: Stage
    state_in_words: str
    expected_error: float | None = Field(None, description="If people answered sensibly; null: not known.")
    better_than_coins: bool | None = None
    withheld: str | None = Field(None, description="Why the expected error is not to be believed.")
    last_answer: str | None = None
    own_folder: bool = Field(description="Whether it can be archived, duplicated and deleted here.")


class EncoderShown(BaseModel):
    name: str
    reads: str
    summary: str
    installed: bool
    install: str


class Overview(BaseModel):
    studies: list[StudyLine]
    archived: list[str]
    encoders: list[EncoderShown]


class DraftShown(BaseModel):
    draft: str
    state: Literal["open", "working", "made", "failed"]
    files: int
    done: int | None = Field(default=None, description="How many items have their features, of `total`.")
    total: int | None = None
    reason: str | None = Field(default=None, description="Why it failed.")
    study: str | None = None
    items: int | None = None
    link: LinkShown | None = Field(default=None, description="For annotators, where a study was made.")


class DroppedShown(BaseModel):
    name: str
    kind: str
    bytes: int


class Preview(Given):
    id_column: Column | None = None
    text_column: Column | None = None
    feature_columns: Annotated[list[Column], Field(max_length=10_000)] = Field(default_factory=list)
    study: Short | None = Field(None, description="The study that the items are for; null: a new one.")


class Refusal(BaseModel):
    name: str
    reason: str


class PreviewShown(BaseModel):
    items: int
    groups: int
    new: int = Field(description="How many of the items the study does not have yet.")
    kinds: list[str]
    columns: list[str]
    numbers: list[str]
    id_column: str | None
    text_column: str | None
    first: list[ItemShown]
    refused: list[Refusal]
    refused_in_all: int
    notes: list[str]


class Making(Preview, CreateOptions):
    name: StudyNameGiven
    encoder: Annotated[
        Short | None,
        Field(description="The name of an encoder, or auto; null: none. What it makes is a block beside the columns."),
    ] = None
    pca: Annotated[float, Field(gt=0, le=10_000)] | None = None


class Adding(Given):
    study: Short
    id_column: Column | None = None
    text_column: Column | None = None


class Copying(Given):
    name: StudyNameGiven


class Deleting(Given):
    name: Annotated[Short, Field(description="The name of the study, typed again.")]


class MarkdownGiven(Given):
    text: Text


class MarkdownShown(BaseModel):
    html: str


class Done(BaseModel):
    done: Literal[True] = True
