"""Signatures: a link, or a session that began with one, is valid because this server's secret signed it.

A signature covers which study it is for and what it is, so a link of one study opens no other, and no link is a
session. Whether the link still counts (not revoked, not past its end) is in the study's log, looked up each time.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from itsdangerous import BadData, Signer, TimestampSigner, URLSafeSerializer, URLSafeTimedSerializer

from ordinate.errors import InvalidInput, StorageFailed

SESSION_SECONDS = 30 * 24 * 3600
LEAST_SECRET = 16
_LONGEST = 4096


class Session(NamedTuple):
    """What a session cookie says: which link it began with, and the name that was given then."""

    study: str
    link: str
    annotator: str | None


class LinkSigner:
    """`clock`: the time in seconds since 1970, by which sessions end."""

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock

        class Stamping(TimestampSigner):
            def get_timestamp(self) -> int:
                return int(clock())

        if len(secret) < LEAST_SECRET:
            raise InvalidInput(f"the link secret must have at least {LEAST_SECRET} characters, as random as can be")
        self._secret = secret.encode()
        self._links = URLSafeSerializer(secret, salt="ordinate.link")
        self._sessions = URLSafeTimedSerializer(secret, salt="ordinate.session", signer=Stamping)
        self._forms = Signer(secret, salt="ordinate.form")
        self._server_links = Signer(secret, salt="ordinate.server-link")
        self._server_sessions = URLSafeTimedSerializer(secret, salt="ordinate.server-session", signer=Stamping)

    def link(self, study: str, link: str) -> str:
        return str(self._links.dumps([study, link]))

    def read_link(self, signed: str) -> tuple[str, str] | None:
        """The study's token and the id of the link; None where the signature is not ours."""
        try:
            study, link = self._links.loads(signed[:_LONGEST])
        except (BadData, TypeError, ValueError):
            return None
        return (study, link) if isinstance(study, str) and isinstance(link, str) else None

    def claim(self, browser: str, study: str, name: str, link: str) -> str:
        """The id of the personal link that a browser has for a name that it gave by a shared link."""
        key = json.dumps([browser, study, name, link]).encode()
        return hmac.new(self._secret, key, "sha256").hexdigest()[:24]

    def session(self, session: Session) -> str:
        return str(self._sessions.dumps(list(session)))

    def server_link(self) -> str:
        """Opens everything that the server serves; there is one for each secret."""
        return self._server_links.get_signature("owner").decode("ascii")

    def is_server_link(self, given: str) -> bool:
        return hmac.compare_digest(self.server_link().encode(), given[:_LONGEST].encode())

    def server_session(self) -> str:
        return str(self._server_sessions.dumps(secrets.token_urlsafe(9)))

    def is_server_session(self, signed: str) -> bool:
        try:
            _, signed_at = self._server_sessions.loads(signed[:_LONGEST], return_timestamp=True)
        except (BadData, TypeError, ValueError):
            return False
        return bool(self._clock() - signed_at.timestamp() <= SESSION_SECONDS)

    def read_session(self, signed: str) -> Session | None:
        """The session; None where the signature is not ours, or is older than a session lasts."""
        return self._younger_session(signed, SESSION_SECONDS)

    def renewed_session(self, signed: str, session: Session) -> str:
        """The session signed again; as it was where it has half of its time left, since pages that are open know it by
        its signature."""
        return signed if self._younger_session(signed, SESSION_SECONDS / 2) == session else self.session(session)

    def _younger_session(self, signed: str, seconds: float) -> Session | None:
        try:
            (study, link, annotator), signed_at = self._sessions.loads(signed[:_LONGEST], return_timestamp=True)
        except (BadData, TypeError, ValueError):
            return None
        # A session from the future began before the clock was set back: it goes on.
        is_old = self._clock() - signed_at.timestamp() > seconds
        return None if is_old else Session(study, link, annotator)

    def form_token(self, session: str) -> str:
        """What a page must send along with a session's cookie to change anything: other sites cannot know it."""
        return self._forms.get_signature(session).decode("ascii")

    def is_form_token(self, session: str, given: str) -> bool:
        return hmac.compare_digest(self.form_token(session).encode(), given.encode())


def secret_in(path: Path) -> str:
    """The secret kept in a file that only its owner may read; the file is made where there is none."""
    try:
        if not path.exists():
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_urlsafe(32) + "\n")
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise InvalidInput(f"others may read the secret in {path}; run: chmod 600 {path}")
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise StorageFailed(f"cannot keep the link secret in {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} holds no secret: it is no text") from error
