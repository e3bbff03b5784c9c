"""A server with the profiles that the screenshots show, uploaded when first asked for."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser

from tests.browser.serving import Server, serving
from tests.browser.test_predictions import TABLE
from tests.browser.test_serving import server_trace
from tests.browser.watching import is_ready
from tests.conftest import ROOT, SAMPLES
from tests.tools.generate_xspace import Config, write_profile
from tests.tools.small_profiles import space_bytes, tpu_plane

GOLDEN = ROOT / "tests" / "golden" / "xspace"
REAL = ROOT.parent / "shared" / "profiles"
TOKEN = "correct horse battery staple"
RIGHT_TO_LEFT = "طبقة الانتباه"

Make = Callable[[Path], Sequence[Path]]


class MissingCaptureError(Exception):
    """A real capture is not beside this checkout."""


def _sample(name: str) -> Make:
    return lambda _folder: [SAMPLES / name]


def _folder(name: str) -> Make:
    return lambda _folder: sorted((SAMPLES / name).iterdir())


def _real(name: str) -> Make:
    def find(_folder: Path) -> Sequence[Path]:
        if not (REAL / name).is_file():
            raise MissingCaptureError(name)
        return [REAL / name]

    return find


def _generated(config: Config) -> Make:
    return lambda folder: write_profile(config, folder)


def _text(name: str, content: str) -> Make:
    def write(folder: Path) -> Sequence[Path]:
        path = folder / name
        path.write_text(content, "utf-8")
        return [path]

    return write


def _no_operation(folder: Path) -> Sequence[Path]:
    path = folder / "zero-ops.xplane.pb"
    path.write_bytes(space_bytes([tpu_plane([])]))
    return [path]


def _golden(name: str) -> Make:
    return lambda _folder: [GOLDEN / name / "host_0.xplane.pb"]


def _cut(folder: Path) -> Sequence[Path]:
    """A capture of which the second half was lost."""
    whole = (SAMPLES / "xspace" / "v6e-training.xplane.pb").read_bytes()
    path = folder / "train-2.xplane.pb"
    path.write_bytes(whole[: len(whole) // 2])
    return [path]


def _names(*names: str) -> str:
    """A CSV in the generic format, with an operation of each name."""
    rows = [f"{name},{400 / number},{2e10 * number},4e6" for number, name in enumerate(names, 1)]
    return "\n".join(("# device: TPU v6e", "name,time_us,flops,hbm_bytes", *rows, ""))


def _training(seed: int) -> Config:
    return Config(
        device="v4", n_events=1200, n_steps=4, n_distinct_ops=50, mix="training", seed=seed
    )


FILES: dict[str, Make] = {
    "v6e": _sample("xspace/v6e-training.xplane.pb"),
    "v6e-inference": _real("tpu-v6e-inference/host_0.xplane.pb"),
    "v5p": _real("tpu-v5p-training-golden/reference.json"),
    "v100": _real("gpu-v100-tf-multiworker/host_0.xplane.pb"),
    "h100": _sample("pytorch/h100-training.json"),
    "ranks": _folder("pytorch/mi300x-two-ranks"),
    "a100": _sample("nsight_compute/a100-kernels.ncu-rep"),
    "mi250x": _folder("rocprof_compute/mi250x-solver"),
    "cpu": _sample("xspace/jax-cpu-transformer.xplane.pb"),
    "three-hosts": _folder("xspace/v5e-three-hosts"),
    "dvfs": _golden("s10_v6e_dvfs_overlap"),
    "serving": _text("decode.json", server_trace().as_json()),
    "predictions": _text("plan.csv", TABLE),
    "cut": _cut,
    "importing": _generated(Config(n_events=300, n_distinct_ops=20, seed=11)),
    "waiting": _generated(Config(n_events=300, n_distinct_ops=20, seed=12)),
    "no-peaks": _sample("xprof_export/a100-hlo_stats.csv"),
    "thousand": _generated(Config(n_events=9000, n_distinct_ops=1000, traits=("framework_ops",))),
    "hostile": _generated(
        Config(n_events=600, n_steps=2, n_distinct_ops=40, traits=("hostile_names",))
    ),
    "zero-ops": _no_operation,
    "sparse": _text("one-op.csv", _names("dot.1")),
    "right-to-left": _text("right-to-left.csv", _names(RIGHT_TO_LEFT, f"{RIGHT_TO_LEFT}.2", "x")),
    "wrong": _text("notes.txt", "Nothing of a profile.\n"),
    "run-1": _generated(_training(1)),
    "run-2": _generated(_training(2)),
    "run-3": _generated(_training(3)),
    "run-4": _generated(_training(4)),
}


# Servers with settings; `{folder}` is that of the site.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "guarded": {"ROOFLINE_AUTH": "token", "ROOFLINE_TOKEN": TOKEN},
    "crowded": {},
    "watching": {"ROOFLINE_BUCKETS": "{folder}/bucket", "ROOFLINE_WATCH": "1"},
    "small": {"ROOFLINE_MAX_UPLOAD_BYTES": "1000"},
}


@dataclass
class Site:
    """Servers, and what was uploaded to the open one. Other servers start when first asked for."""

    server: Server
    browser: Browser
    folder: Path
    _stack: ExitStack
    _others: dict[str, Server] = field(default_factory=dict)
    _urls: dict[str, str] = field(default_factory=dict)
    _kept: dict[str, str] = field(default_factory=dict)

    def other(self, name: str) -> Server:
        """The server of this name in `SETTINGS`; empty when it is first asked for."""
        if name not in self._others:
            settings = {
                key: value.format(folder=self.folder) for key, value in SETTINGS[name].items()
            }
            running = serving(self.folder / f"server-{name}", settings)
            self._others[name] = self._stack.enter_context(running)
        return self._others[name]

    @property
    def guarded(self) -> Server:
        """A server that asks for a token."""
        return self.other("guarded")

    def kept(self, name: str, make: Callable[[], str]) -> str:
        """What `make` returned when it was first asked for: an id, an address."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def files(self, name: str) -> Sequence[Path]:
        """The files of a profile; `MissingCaptureError` for a real capture that is not there."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return FILES[name](folder)

    def profile(self, name: str) -> str:
        """The path of a ready profile, such as `/p/…`."""
        if name not in self._urls:
            page = self.browser.new_page(base_url=self.server.url)
            page.goto("/")
            page.set_input_files("#file", self.files(name))
            is_ready(page)
            self._urls[name] = page.evaluate("location.pathname")
            page.close()
        return self._urls[name]

    def id(self, name: str) -> str:
        """The id of a ready profile."""
        return self.profile(name).rpartition("/")[2]


@contextmanager
def site(browser: Browser, folder: Path) -> Iterator[Site]:
    """An open server, and others as states ask for them, all empty."""
    with ExitStack() as stack:
        server = stack.enter_context(serving(folder / "open"))
        yield Site(server, browser, folder, stack)
