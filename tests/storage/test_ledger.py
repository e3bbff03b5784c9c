"""The ledger of advice: decisions go with their profile, hits stay without it."""

import pytest

from roofline.errors import BadEditError
from roofline.storage import ledger
from roofline.storage.visibility import ALL_SEEING
from tests.storage.places import Place, stored


def test_decisions_go_with_their_profile_and_hits_stay(place: Place) -> None:
    server = place.server()
    profile_id = stored(server, b"stub one")
    book = server.instance.store.advice
    book.put(profile_id, "M2:x", b'{"a": 1}')
    book.put(profile_id, "M2:x", b'{"a": 2}')
    book.put_hits([(("p", "M2:x"), ("M2", "h100", 0.5)), (("q", "M2:x"), ("M2", "h100", 0.7))])
    book.put_hits([(("p", "M2:x"), ("M2", "h100", 0.9))])
    assert book.of(profile_id) == book.every(ALL_SEEING) == [b'{"a": 2}']
    assert sorted(ratio for _, _, ratio in book.hits()) == [0.7, 0.9]
    assert book.forget(profile_id, "M2:x") and not book.forget(profile_id, "M2:x")
    book.put(profile_id, "M2:x", b"{}")
    server.library.remove(profile_id)
    assert book.of(profile_id) == book.every(ALL_SEEING) == []
    assert len(book.hits()) == 2


def test_there_are_only_so_many(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    server = place.server()
    book = server.instance.store.advice
    profile_id = stored(server, b"stub two")
    for name in ("MOST_DECISIONS", "MOST_HITS"):
        monkeypatch.setattr(ledger, name, 1)
    book.put(profile_id, "a", b"{}")
    book.put(profile_id, "a", b"{}")
    with pytest.raises(BadEditError):
        book.put(profile_id, "b", b"{}")
    with pytest.raises(BadEditError):
        book.put_hits([(("p", "a"), ("M2", "x", 1.0)), (("p", "b"), ("M2", "x", 1.0))])
