"""Connections to S3, Google Cloud Storage and Azure, through obstore.

`s3://bucket/prefix?endpoint=http://…` names a place; without `endpoint`, AWS_ENDPOINT_URL does,
and without both it is Amazon's. Credentials come from the environment, as obstore reads it
(AWS_ACCESS_KEY_ID and the like). The tests run against moto's S3; Google and Azure
share the code but could not be tried.
"""

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from roofline.errors import SettingsError

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_OPTIONS = {"endpoint", "region"}
# A request is tried again for this long; obstore's own three minutes are longer than people wait.
RETRY_S = 15.0


def connect(place: str, *, named_by: str) -> "ObjectStore":
    """The store of `place`; keys are below its prefix. Nothing is asked of it yet.

    `named_by` is what the user wrote the place into. Raises `SettingsError` if it cannot be one.
    """
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"{named_by} names an object store, which needs the Python package obstore.",
            remedy="Install it with `pip install roofline[team]`.",
        ) from error
    address = urlsplit(place)
    options: dict[str, Any] = dict(parse_qsl(address.query))
    if unknown := set(options) - _OPTIONS:
        raise _refused(named_by, f"it does not take {', '.join(sorted(unknown))}")
    if address.scheme == "s3" and (elsewhere := _endpoint_of_environment()):
        options.setdefault("endpoint", elsewhere)
    local = str(options.get("endpoint", "")).startswith("http://")
    try:
        return from_url(
            address._replace(query="").geturl(),
            client_options={"allow_http": local},
            retry_config={"retry_timeout": timedelta(seconds=RETRY_S)},
            **options,
        )
    except (BaseError, ValueError) as error:
        raise _refused(named_by, str(error).splitlines()[0]) from error


def _endpoint_of_environment() -> str | None:
    """The address of another S3 than Amazon's, as Amazon's own tools read it."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")


def _refused(named_by: str, why: str) -> SettingsError:
    return SettingsError(
        f"{named_by} cannot be used: {why}.",
        remedy="Write it as s3://bucket/prefix?endpoint=https://…&region=…, without secrets.",
    )
