"""A text that is kept elsewhere and used here: asked for again in time, and never exchanged for a bad one.

Owns when the source is asked, what of it is kept in the record, and which copy is in force (crcr-protocol 2.1, W16).
Knows no grammar: what a text means, and whether it is good, says the `parse` it is given. No transaction may be open
around its calls: they write to the record and may wait for the network.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Generic, TypeVar

import structlog
from sqlalchemy import or_
from sqlalchemy.exc import SQLAlchemyError

from relay.allowlist.fetching import Fetch
from relay.allowlist.findings import DocumentError
from relay.allowlist.locations import LocationError
from relay.allowlist.types import AllowlistUnavailableError
from relay.github.types import FetchedText, GitHubError
from relay.store.crcr_models import RemoteDocument
from relay.store.engine import Store
from relay.store.upsert import insert_into

_log = structlog.get_logger(__name__)

T = TypeVar("T")

#: After a failure the source is asked again so many seconds later, unless it names a longer time itself.
RETRY_S = 60.0
_AHEAD = 0.8
#: What a source may ask for at most; a broken header must not silence us for a day.
_LONGEST_PAUSE_S = 3_600.0


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a text: the last good one, and of the newest what was wrong with it (crcr_models)."""

    good_text: str | None = None
    good_at: datetime | None = None
    seen_etag: str = ""
    seen_digest: str = ""
    checked_at: datetime | None = None
    problem: str = ""

    @property
    def newest_is_good(self) -> bool:
        """Whether the newest text is the good one. Only then may the source be asked whether anything changed: of a
        bad one nothing is kept but that it was bad."""
        return self.good_text is not None and self.seen_digest == _digest(self.good_text)


@dataclass(frozen=True, slots=True)
class Value(Generic[T]):
    """A text's meaning; the other fields as in `LoadedAllowlist`."""

    value: T
    read_at: datetime
    problem: str


class KeptText(Generic[T]):
    """One text of one address. May be used by several threads; several processes share its row."""

    def __init__(
        self,
        name: str,
        url: str,
        parse: Callable[[str], T],
        *,
        store: Store,
        fetch: Fetch,
        ttl_s: float,
        now: Callable[[], datetime],
    ) -> None:
        """`name` is the row's, and the text's in messages (`ci providers`); `ttl_s` is how long a copy is not asked for
        again. `parse` raises DocumentError."""
        self._name = name
        self._url = url
        self._parse = parse
        self._store = store
        self._fetch = fetch
        self._ttl_s = ttl_s
        self._now = now
        self._asking = threading.Lock()
        self._pause_until: datetime | None = None
        self._known = Known()
        self._parsed: tuple[str, T] | None = None

    def current(self) -> Value[T]:
        """The text in force; asked for again when its time is over. Whoever comes while it is asked for gets the old
        one at once, if there is one.

        Raises:
            AllowlistUnavailableError: none was ever good.
        """
        known = self._read()
        if self._rests(known):
            return self._value(known)
        # Nobody waits for the network who can be served without it.
        if not self._asking.acquire(blocking=known.good_text is None):
            return self._value(known)
        try:
            known = self._read()
            return self._value(known if self._rests(known) else self._ask(known))
        finally:
            self._asking.release()

    def refresh(self) -> Value[T]:
        """The text in force after asking for it now.

        Raises:
            AllowlistUnavailableError: none was ever good.
        """
        with self._asking:
            return self._value(self._ask(self._read()))

    def tend(self) -> None:
        """Ask a little before the time is over, so that it is a background thread and no request that waits. That none
        was ever good is no fault here."""
        if not self._rests(self._read(), _AHEAD) and self._asking.acquire(blocking=False):
            try:
                self._ask(self._read())
            finally:
                self._asking.release()

    def kept(self) -> Value[T]:
        """The text in force as the record has it; nobody is asked.

        Raises:
            AllowlistUnavailableError: none was ever good.
            SQLAlchemyError: the record cannot be read.
        """
        return self._value(self._stored())

    def _rests(self, known: Known, share: float = 1.0) -> bool:
        """Whether it is too early to ask: before this share of the time is over."""
        now = self._now()
        if known.checked_at is None:
            return False
        if self._pause_until is not None and now < self._pause_until:
            return True
        return now < known.checked_at + timedelta(seconds=share * (RETRY_S if known.problem else self._ttl_s))

    def _value(self, known: Known) -> Value[T]:
        try:
            if known.good_text is not None and known.good_at is not None:
                return Value(self._meaning(known.good_text), known.good_at, known.problem)
        except DocumentError as error:
            # It was good for an older relay. What the source says now is asked for in its time.
            known = replace(known, problem=str(error))
        variable = f"RELAY_{self._name.replace('-', '_').upper()}_URL"
        reason = known.problem or "it was not read yet"
        raise AllowlistUnavailableError(f"There is no usable {self._name} ({variable}): {reason}")

    def _meaning(self, text: str) -> T:
        parsed = self._parsed
        if parsed is None or parsed[0] != text:
            self._parsed = parsed = (text, self._parse(text))
        return parsed[1]

    def _ask(self, known: Known) -> Known:
        asked_at = self._now()
        self._pause_until = None
        try:
            fetched = self._fetch(self._url, known.seen_etag if known.newest_is_good else "")
        except (GitHubError, LocationError) as error:
            self._pause(error, asked_at)
            found = replace(known, checked_at=asked_at, problem=f"it cannot be fetched: {error}")
        else:
            found = self._judged(known, fetched, asked_at)
        if found.problem and found.problem != known.problem:
            _log.error("remote_text_unusable", name=self._name, problem=found.problem, kept=found.good_text is not None)
        self._keep(found)
        return found

    def _pause(self, error: Exception, asked_at: datetime) -> None:
        wanted = error.retry_after_s if isinstance(error, GitHubError) else None
        if wanted is not None:
            self._pause_until = asked_at + timedelta(seconds=min(max(wanted, RETRY_S), _LONGEST_PAUSE_S))

    def _judged(self, known: Known, fetched: FetchedText, asked_at: datetime) -> Known:
        if fetched.text is None:
            return replace(known, good_at=asked_at, checked_at=asked_at, problem="")
        seen = replace(known, seen_etag=fetched.etag, seen_digest=_digest(fetched.text), checked_at=asked_at)
        try:
            self._meaning(fetched.text)
        except DocumentError as error:
            return replace(seen, problem=f"the newest text is wrong: {error}")
        return replace(seen, good_text=fetched.text, good_at=asked_at, problem="")

    def _read(self) -> Known:
        """What the record knows of this address. A record that cannot be read is as one that knows nothing, but for
        what this process knows itself."""
        try:
            self._known = self._stored()
        except SQLAlchemyError as error:
            _log.warning("remote_text_not_read", name=self._name, fault=type(error).__name__)
        return self._known

    def _stored(self) -> Known:
        with self._store.reading() as session:
            row = session.get(RemoteDocument, self._name)
        if row is None or row.url != self._url:
            return Known()
        return Known(row.good_text, row.good_at, row.seen_etag, row.seen_digest, row.checked_at, row.problem)

    def _keep(self, found: Known) -> None:
        """Write it down, unless another process asked later. What cannot be written is still used here."""
        self._known = found
        values = {**asdict(found), "url": self._url}
        checked = RemoteDocument.checked_at
        earlier = or_(RemoteDocument.url != self._url, checked.is_(None), checked <= found.checked_at)
        try:
            with self._store.writing() as session:
                # In one statement, which waits for who writes it just now and then looks at what that one wrote.
                row = insert_into(session, RemoteDocument).values(name=self._name, **values)
                session.execute(row.on_conflict_do_update(index_elements=["name"], set_=values, where=earlier))
        except SQLAlchemyError as error:
            _log.warning("remote_text_not_kept", name=self._name, fault=type(error).__name__)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
