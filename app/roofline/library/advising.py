"""Advice and its ledger: stored findings with what was decided of them, and what was measured."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Literal

import orjson

from roofline.errors import BadEditError, FindingNotFoundError, RooflineError
from roofline.library.comparing import Sides, StoredRun, runs_of
from roofline.library.reader import ProfileLists, ProfileReader
from roofline.presentation.titles import series_name
from roofline.storage.profiles import ProfileStore
from roofline.storage.records import Manifest, timestamp
from roofline.storage.results import COMPARED
from roofline.storage.visibility import Viewer

if TYPE_CHECKING:
    from roofline.advice.ledger import Entry, Hit


Record = dict[str, Any]
Decision = Literal["accepted", "dismissed", "open"]

ACCEPTED = "accepted"
LONGEST_REASON = 500
MOST_ENTRIES = 10_000
LONGEST_DEVICE = 200


class AdviceBook:
    """Advice of the profiles in `store`. Every method may block; call it from any thread.

    The arithmetic is loaded when somebody asks for it: most servers answer other requests first.
    """

    def __init__(self, store: ProfileStore) -> None:
        self._store = store
        self._ledger = store.advice

    def advice(
        self,
        reader: ProfileReader,
        lists: ProfileLists,
        run: Manifest,
        stored: Callable[[], bytes | None],
    ) -> bytes | None:
        """`stored` advice (JSON) of a run as decided and corrected, with what was done before it;
        `None` where nothing was, or where it cannot be read."""
        every, decided, hits = self._ledger.around(run.id, lists.viewer)
        done: list[Entry] = []
        if every:  # what waits for a next run is measured, and may be this run's
            done = self._settled(reader, lists, run, every)
            decided = self._ledger.of(run.id)
        if not (decided or hits or done) or (found := stored()) is None:
            return None
        from roofline.exports.advice_decided import corrected, with_done
        from roofline.presentation.json_text import to_json

        told = self._told(lists.viewer, decided)
        record = corrected(orjson.loads(found), told, _hits(hits))
        return to_json(with_done(record, done))

    def done_lines(
        self, reader: ProfileReader, lists: ProfileLists, run: Manifest, time_us: float
    ) -> tuple[str, ...]:
        """Findings done before a run of `time_us`, with promised and measured savings, and its own
        that wait for the next capture."""
        done = self._settled(reader, lists, run, self._ledger.every(lists.viewer))
        waiting = [one for one in self._told(lists.viewer, self._ledger.of(run.id)) if _waits(one)]
        if not done and not waiting:
            return ()
        from roofline.exports.advice_decided import done_text

        return tuple(done_text(one, time_us) for one in (*done, *waiting))

    def _settled(
        self, reader: ProfileReader, lists: ProfileLists, run: Manifest, documents: Sequence[bytes]
    ) -> "list[Entry]":
        """The accepted findings that `run` measured, after measuring what waits for the next run
        of a series that the viewer sees: those of `run`, and those that wait for `run`. `documents`
        are all entries."""
        every = self._told(lists.viewer, documents)
        waiting = {one.profile for one in every if one.state == ACCEPTED and _waits(one)}
        for before in waiting:
            with suppress(RooflineError):  # deleted, or computed again, a moment ago
                self._measure_next(reader, lists, reader.manifest(before), run.id)
        now = self.every(lists.viewer) if waiting else every
        return [one for one in now if one.measured and one.measured.profile == run.id]

    def _measure_next(
        self, reader: ProfileReader, lists: ProfileLists, before: Manifest, run_id: str
    ) -> None:
        after = next_run(lists, before)
        if after is None or run_id not in {before.id, after.id}:
            return
        sides = Sides(a=(_stored_run(reader, before),), b=(_stored_run(reader, after),))
        for one in self.measured(before.id, after.id, sides):
            self._put(one)
        self._store.answers_changed(None)

    def decide(
        self, profile_id: str, stored: bytes, finding: str, decision: Decision, reason: str
    ) -> None:
        """Notes a decision on a finding of the `stored` advice; "open" takes it back.

        Raises `FindingNotFoundError` for a finding that is not there or was not decided,
        `BadViewError` for one that cannot be accepted.
        """
        if len(reason) > LONGEST_REASON:
            raise BadEditError(
                "The reason is too long.", remedy=f"Write up to {LONGEST_REASON} characters."
            )
        if decision == "open":
            if not self._ledger.forget(profile_id, finding):
                raise FindingNotFoundError(
                    "Nothing was decided of this finding.", remedy="Open the profile's page again."
                )
        else:
            from roofline.exports.advice_decided import entry_of

            entry = entry_of(
                orjson.loads(stored),
                finding,
                decision,
                profile=profile_id,
                at=timestamp(),
                reason=reason if decision == "dismissed" else "",
            )
            self._put(entry)
        self._store.answers_changed(None)

    def measured(self, profile_id: str, after_id: str, sides: Sides) -> "list[Entry]":
        """Accepted findings of a profile as the comparison `sides` shows them; not kept yet.

        Those per a unit that one of the captures does not have are left out.
        """
        decided = _entries(self._ledger.of(profile_id))
        accepted = [one for one in decided if one.state == ACCEPTED]
        if not accepted:
            return []
        from roofline.advice.ledger import measured
        from roofline.compare.comparison import common_units, compare
        from roofline.exports.advice_decided import measured_by

        a, b = runs_of(sides)
        units = {one.unit for one in accepted} & {*common_units((*a, *b))}
        found = {unit: compare(a, b, unit) for unit in units}
        at = timestamp()
        return [
            measured(one, measured_by(one, found[one.unit], profile=after_id, at=at))
            for one in accepted
            if one.unit in found
        ]

    def has_accepted(self, profile_id: str) -> bool:
        """True where a finding of the profile was accepted."""
        return any(orjson.loads(one)["state"] == "accepted" for one in self._ledger.of(profile_id))

    def measured_lines(self, profile_id: str, after_id: str, sides: Sides) -> tuple[str, ...]:
        """`measured` for people, a line each."""
        from roofline.exports.ledger import measured_lines

        return tuple(measured_lines(self.measured(profile_id, after_id, sides)))

    def keep(self, entries: "Sequence[Entry]") -> list[Record]:
        """Keeps what was measured: with the profile, and as hits that correct later advice."""
        kept = [self._put(one) for one in entries]
        self._put_hits(entries)
        return kept

    def every(self, viewer: Viewer) -> "list[Entry]":
        """The entries of all profiles that `viewer` sees."""
        return self._told(viewer, self._ledger.every(viewer))

    def _told(self, viewer: Viewer, documents: Sequence[bytes]) -> "list[Entry]":
        """Entries, without what was measured by profiles that `viewer` does not see."""
        entries = _entries(documents)
        if not any(one.measured for one in entries):
            return entries
        hidden = self._ledger.hidden_from(viewer)
        return [
            replace(one, measured=None) if one.measured and one.measured.profile in hidden else one
            for one in entries
        ]

    def add(self, documents: Sequence[Any]) -> int:
        """Takes hits from the entries of another ledger: how many it had.

        Raises `CorruptProfileError` for what is not an entry.
        """
        from roofline.advice.ledger import entry_from, hits_of

        if len(documents) > MOST_ENTRIES:
            raise BadEditError(
                f"There are more than {MOST_ENTRIES:,} entries.", remedy="Send them in parts."
            )
        from roofline.advice.rules import RULES

        entries = [one for one in map(entry_from, documents) if one.rule in RULES]
        self._put_hits(entries)
        return len(hits_of(entries))

    def rates(self) -> list[Record]:
        """Hit rates by rule and device."""
        from roofline.advice.ledger import rates_of

        rates = rates_of(_hits(self._ledger.hits()))
        return [
            {"rule": rule, "device": device, **asdict(rate), "corrects": rate.corrects}
            for (rule, device), rate in rates.items()
        ]

    def _put(self, entry: "Entry") -> Record:
        from roofline.advice.ledger import document_of

        self._ledger.put(entry.profile, entry.finding, orjson.dumps(document_of(entry)))
        return document_of(entry)

    def _put_hits(self, entries: "Sequence[Entry]") -> None:
        self._ledger.put_hits(
            [
                (one.key, (one.rule, one.device[:LONGEST_DEVICE], one.hit))
                for one in entries
                if one.hit is not None
            ]
        )
        self._store.answers_changed(None)


def _waits(entry: "Entry") -> bool:
    return entry.state == ACCEPTED and entry.measured is None


def _stored_run(reader: ProfileReader, run: Manifest) -> StoredRun:
    file, packed = reader.packed(run.id, COMPARED)
    return StoredRun(title=run.title, etag=file.etag, packed=packed)


def _entries(documents: Sequence[bytes]) -> "list[Entry]":
    from roofline.advice.ledger import entry_from

    return [entry_from(orjson.loads(one)) for one in documents]


def _hits(rows: Sequence[tuple[str, str, float]]) -> "list[Hit]":
    from roofline.advice.ledger import Hit

    return [Hit(rule=rule, device=device, ratio=ratio) for rule, device, ratio in rows]


_MOST_FOUND = 1000


def runs_of_series(lists: ProfileLists, name: str, by: str) -> list[Manifest]:
    """All ready runs of a title, whatever the day at its end, or of a tag; the oldest first."""
    if by == "tag":
        listing = lists.search(tag=name, limit=_MOST_FOUND)
    else:
        name = series_name(name)
        listing = lists.search(name, limit=_MOST_FOUND)
    # The listing has the newest first, also among those of one second.
    found = [
        one for one in reversed(listing.profiles) if by == "tag" or series_name(one.title) == name
    ]
    return sorted(found, key=lambda one: one.created_at)


def next_run(lists: ProfileLists, run: Manifest) -> Manifest | None:
    """The first ready run after `run` with its title or one of its tags."""
    names = [("title", run.title), *(("tag", tag) for tag in run.tags)]
    later = [_behind(run, runs_of_series(lists, name, by)) for by, name in names]
    return min(filter(None, later), key=lambda one: one.created_at, default=None)


def _behind(run: Manifest, runs: Iterable[Manifest]) -> Manifest | None:
    before = iter(runs)
    return next(before, None) if any(one.id == run.id for one in before) else None
