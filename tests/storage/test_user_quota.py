"""Quotas of one person: profiles and bytes, without the trash."""

import pytest

from roofline.errors import OverQuotaError
from tests.storage.places import Place, add, stored


def test_person_may_have_so_many_profiles(place: Place) -> None:
    server = place.server(user_profiles=2, trash_days=7)
    first = stored(server, b"stub 1", uploader="ada")
    add(server, b"stub 2", uploader="ada")
    with pytest.raises(OverQuotaError, match="2 profiles"):
        add(server, b"stub over quota", uploader="ada")
    stored(server, b"stub 3", uploader="eve")
    stored(server, b"stub 4")
    server.library.delete(first)
    stored(server, b"stub 5", uploader="ada")


def test_restoring_asks_the_quota_and_leaves_the_profile_in_the_trash(place: Place) -> None:
    server = place.server(user_profiles=1, trash_days=7)
    first = stored(server, b"stub 1", uploader="ada")
    server.library.delete(first)
    second = stored(server, b"stub 2", uploader="ada")
    with pytest.raises(OverQuotaError, match="The uploader has 1 profile on") as refused:
        server.library.restore(first)
    assert "stays in the trash" in refused.value.remedy
    assert [one.id for one in server.queries.trashed("ada")] == [first]
    server.library.delete(second)
    server.library.restore(first)
    assert server.queries.is_ready(first)


def test_person_may_have_so_many_bytes(folder: Place) -> None:
    server = folder.server(user_quota_bytes=3000)
    stored(server, b"stub 1" + bytes(2000), uploader="ada")
    with pytest.raises(OverQuotaError, match="too little is left"):
        add(server, b"stub 2" + bytes(2000), uploader="ada")
    assert len(list(server.instance.store.raw.list())) == 1, "nothing of it is stored"
    stored(server, b"stub 3" + bytes(500), uploader="ada")
    stored(server, b"stub 2" + bytes(2000), uploader="eve")
