"""How much a server takes from its callers, and how long it waits for them and for its helper process."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes are in bytes, times in seconds.

    connections          that are open at the same time, or fewer where the operating system allows fewer files
    requests_per_second  of one annotator in the long run, four times as many at once; of a program, ten times as many
    at_once              requests of one annotator that are answered at the same time, ten times as many of a program;
                         the others wait for their turn. (Browsers open six connections to a server.)
    failures_per_second  requests without a valid link from one address in the long run, thirty times as many at once
    body, items_body     size of a request's body; the second one where it brings items
    header_seconds       from the first byte of a request, or from connecting, until its headers are complete
    body_seconds, items_body_seconds  until the body is complete
    send_seconds         until the caller has taken the next part of a response
    pair_seconds         that a request waits for a chosen pair before it gets a random one
    results_seconds      that a request waits for the ordering
    helper_seconds       that the helper process may take for one job before it is replaced; doubled each time that it
                         is replaced, so that a large study gets the time it needs
    stop_seconds         that a helper may take to finish when the server stops
    upload               size of one file that is dropped on the page where studies are made
    upload_files, upload_total  how many files one study may be made of, and their size together
    upload_seconds       until such a file is complete
    upload_free          bytes of the disk that stay free
    text                 size of such a file that is a text
    listeners            pages that are told at the same time what changes in one study
    open_per_link        pairs that everybody who came by one link may hold together
    """

    connections: int = 2000
    requests_per_second: float = 30.0
    at_once: int = 6
    failures_per_second: float = 2.0
    body: int = 64 * 1024
    items_body: int = 32 * 1024 * 1024
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    items_body_seconds: float = 300.0
    send_seconds: float = 60.0
    pair_seconds: float = 2.0
    results_seconds: float = 30.0
    helper_seconds: float = 20.0
    stop_seconds: float = 1.0
    upload: int = 512 * 1024 * 1024
    upload_files: int = 20_000
    upload_total: int = 20 * 1024**3
    upload_seconds: float = 600.0
    upload_free: int = 512 * 1024 * 1024
    text: int = 1024 * 1024
    listeners: int = 50
    open_per_link: int = 500


DEFAULT = Limits()
