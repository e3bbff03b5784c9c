"""The environment of a capture of JAX: the plane `/host:metadata` has versions as stats of its own.

JAX writes `jax_version`, `jaxlib_version` and `cpu_version` or the like for each backend: what that
says as the version of its platform.
"""

from roofline.errors import CorruptProfileError
from roofline.importers.xspace.planes import HLO_METADATA, Space
from roofline.model.beside_ops import environment

_SUFFIX = "_version"
_OF_JAX = ("jax_version", "jaxlib_version")


def read_environment(space: Space) -> dict[str, str]:
    """Versions of JAX and its backends; empty where the capture has none."""
    found: dict[str, str] = {}
    backends = []
    for plane in space.planes:
        if plane.name == HLO_METADATA:
            try:
                names, stats = set(plane.stat_names.values()), plane.stats
            except CorruptProfileError:
                continue  # no operation depends on it
            for name in sorted(name for name in names if name.endswith(_SUFFIX)):
                text = stats.text(name)
                if name in _OF_JAX:
                    found[name] = text
                elif text:
                    backends.append(_backend(name.removesuffix(_SUFFIX), text))
    return environment({**found, "backend_version": ", ".join(backends)})


def _backend(name: str, version: str) -> str:
    """`cpu` says no more than its name; others have a version after it."""
    return name if version == name else f"{name} {version}"
