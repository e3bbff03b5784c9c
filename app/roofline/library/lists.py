"""ProfileLists: lists of profiles, as one viewer sees them."""

from roofline.storage.queries import ProfileQueries
from roofline.storage.records import Listing, Trashed
from roofline.storage.visibility import Viewer


class ProfileLists:
    """The lists of `queries` for one viewer. Every method may block; call it from any thread."""

    def __init__(self, queries: ProfileQueries, viewer: Viewer) -> None:
        self._queries = queries
        self._viewer = viewer

    def search(
        self,
        text: str = "",
        *,
        tag: str = "",
        device: str = "",
        offset: int = 0,
        limit: int = 50,
        sort: str = "",
    ) -> Listing:
        """See `ProfileQueries.search`."""
        return self._queries.search(
            text,
            tag=tag,
            device=device,
            offset=offset,
            limit=limit,
            sort=sort,
            viewer=self._viewer,
        )

    def frequent_tags(self, limit: int) -> tuple[tuple[str, int], ...]:
        """The tags that the most of these profiles have, and how many have each."""
        return self._queries.frequent_tags(limit, self._viewer)

    def trashed(self) -> tuple[Trashed, ...]:
        """The profiles that the viewer may take out of the trash, the newest first."""
        if self._viewer.sees_all:
            return self._queries.trashed(None)
        return self._queries.trashed(self._viewer.owner) if self._viewer.owner else ()
