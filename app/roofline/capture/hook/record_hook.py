"""The part of `roofline record` and of `with roofline.capture()` that runs inside the program.

Python 3.8 or later, nothing but the standard library, and no import of Roofline: the program's
environment is its own. Until a framework was imported only `os` and `sys` are loaded. Nothing may
raise into the program: each entry is guarded, and a failure ends the recording of this process.

The parent reads files of one folder, each of which is written whole and renamed:

    hooked-PID                       the hook is in this process
    framework-PID.json               a framework was imported: name, version
    rankR_pidP_tryT.open.json        a window began: step, steps, world
    rankR_pidP_tryT.pt.trace.json.gz, rankR_pidP_tryT.xplane.pb
    rankR_pidP_tryT.done.json        the window ended: verdict, steps, slowdown, seconds
    ended-PID.json                   the process ended: steps, the trace of its own profiler
"""

from __future__ import annotations

import os
import sys

MYPY = False
if MYPY:
    from typing import Any

VARIABLE = "ROOFLINE_RECORD"
STEADY = 1.1
LATEST_STEP = 10
LIVE_CALLS = 50
COLD = 2.0
# The name under which a file says what was noticed: as in roofline.model.notes.
RECORDING = "roofline_recording"
MOST_TRIES = 2
AGAIN_STEPS = 10
AGAIN_RANKS_STEPS = 20
QUIET_S = 0.5
COLD_QUIET_S = 3.0
FIRST_PAUSE_S = 15.0
_LAUNCHERS = ("torchrun", "torch.distributed.run", "torch.distributed.launch")


def install() -> None:
    """Waits for the import of a framework, in processes that may be recorded."""
    text = os.environ.get(VARIABLE)
    if not text or _is_launcher():
        return
    folder = text.partition("\n")[0]
    os.close(os.open(os.path.join(folder, "hooked-%d" % os.getpid()), os.O_CREAT | os.O_WRONLY))
    sys.meta_path.insert(0, Finder(lambda kind, module: start(kind(module, Options()))))
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forget)


def start(recorder: Any) -> Any:
    """Begins to watch the framework of `recorder`, which is returned."""
    _recorders.append(recorder)
    recorder.begin()
    return recorder


def stand_back() -> None:
    """Nothing more is recorded for `roofline record`: the program records itself."""
    for recorder in _recorders:
        recorder.is_over = True


def _is_launcher() -> bool:
    words = getattr(sys, "orig_argv", None) or sys.argv
    named = any(
        os.path.basename(word) == name or word == name for word in words[:4] for name in _LAUNCHERS
    )
    return named and "LOCAL_RANK" not in os.environ


_recorders: list[Any] = []


def _forget() -> None:
    """A forked child, such as a data loader, is never recorded."""
    for recorder in _recorders:
        recorder.is_over = True
        recorder.is_child = True


class Finder:
    """Calls back once with `Torch` or `Jax` and the module, after that was executed."""

    def __init__(self, found: Any) -> None:
        self.found = found
        self.waiting = {name: kind for name, kind in FRAMEWORKS.items() if name not in sys.modules}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The spec that the next finder gives; its loader calls back when it has executed."""
        if name not in self.waiting:
            return None
        kind = self.waiting.pop(name)
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                self._watch(spec, kind)
                return spec
        self.waiting[name] = kind
        return None

    def _watch(self, spec: Any, kind: Any) -> None:
        loader = spec.loader
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            try:
                self.found(kind, module)
            except Exception as error:  # noqa: BLE001 -- nothing may raise into the program
                _log("the hook could not be placed: %r" % (error,))

        loader.exec_module = exec_module


class Options:
    """The options of the command: the folder, then JSON; by default from the environment."""

    def __init__(self, asked: str | None = None) -> None:
        import json

        self.folder, _, text = (asked or os.environ[VARIABLE]).partition("\n")
        given = json.loads(text)
        self.steps = int(given["steps"])
        self.skip = given["skip"]
        self.after_s = float(given["after_s"])
        self.duration_s = float(given["duration_s"])
        self.ranks = given["ranks"]
        self.stack = bool(given["stack"])


def _log(text: str, folder: str | None = None) -> None:
    """A line in the log of the folder, by default that of the command."""
    place = folder or os.environ.get(VARIABLE, "").partition("\n")[0]
    if not place:
        return
    try:
        with open(os.path.join(place, "log"), "a") as log:
            log.write("%d %s\n" % (os.getpid(), text))
    except OSError:
        pass


def _place() -> tuple[int, int]:
    """Rank and number of ranks, read when they are needed: programs set them themselves."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    rank = _first_number("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
    world = _first_number("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
    return rank or 0, world or 1


def _first_number(*names: str) -> Any:
    for name in names:
        text = os.environ.get(name, "")
        if text.isdigit():
            return int(text)
    return None


def _median(values: list[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


class _Recorder:
    """What both frameworks share: tries, and what is said of them."""

    framework = ""

    def __init__(self, module: Any, options: Options) -> None:
        self.module = module
        self.options = options
        self.tries = 0
        self.is_over = False
        self.is_child = False
        self.step = 0
        self.is_by_hand = False
        self.last_s: Any = None
        self.before_s: list[Any] = []
        self.window_s: list[Any] = []
        self.undo: list[Any] = []
        # Of a block in a program that used the framework before.
        self.was_used = False

    def begin(self) -> None:
        import atexit

        self.say(
            "framework-%d.json" % os.getpid(),
            {"framework": self.framework, "version": str(getattr(self.module, "__version__", ""))},
        )
        atexit.register(self.guarded, self.end)
        self.undo.append(lambda: atexit.unregister(self.guarded))

    def end(self) -> None:
        raise NotImplementedError

    def stepped_by_hand(self) -> None:
        """A step of the program ended, which said so itself."""
        if not self.is_over:
            self.is_by_hand = True
            self.step += 1
            self.boundary()

    def boundary(self) -> None:
        raise NotImplementedError

    def marked(self) -> Any:
        """A context for the code of one step, so that the capture has its begin and end."""
        import contextlib

        return contextlib.nullcontext()

    def passed(self, is_recorded: bool) -> None:
        """Keeps how long the step took that ends now."""
        import time

        now_s = time.perf_counter()
        if self.last_s is not None:
            (self.window_s if is_recorded else self.before_s).append(now_s - self.last_s)
            del self.before_s[:-20]

    def is_steady(self) -> bool:
        """Whether the window may begin: as told, when steps take alike, at last at step 10."""
        if self.options.skip is not None:
            return bool(self.step >= self.options.skip)
        if self.step >= LATEST_STEP:
            return True
        last = self.before_s[-3:]
        return _place()[1] == 1 and len(last) == 3 and max(last) <= STEADY * min(last)

    def leave(self) -> None:
        """Ends an open window; the framework is then as it was before."""
        self.guarded(self.end)
        self.is_over = True
        for undo in reversed(self.undo):
            undo()
        if self in _recorders:
            _recorders.remove(self)

    def patch(self, owner: Any, name: str, replaced: Any) -> None:
        """Puts `replaced` in the place of a function, until `leave`."""
        before = getattr(owner, name)

        def undo() -> None:
            if getattr(owner, name) is replaced:
                setattr(owner, name, before)

        setattr(owner, name, replaced)
        self.undo.append(undo)

    def guarded(self, call: Any, *arguments: Any) -> None:
        """Calls; a failure is a line in the log, and the end of recording."""
        if self.is_child:
            return
        try:
            call(*arguments)
        except Exception as error:  # noqa: BLE001 -- nothing may raise into the program
            self.is_over = True
            _log("recording ended: %r" % (error,), self.options.folder)

    def name(self) -> str:
        return "rank%d_pid%d_try%d" % (_place()[0], os.getpid(), self.tries + 1)

    def is_wanted(self) -> bool:
        rank, world = _place()
        if self.options.ranks is not None:
            return rank in self.options.ranks
        if world <= 64:
            return True
        return rank in (0, world - 1) or rank % max(1, world // 15) == 0

    def say(self, name: str, record: dict[str, Any]) -> None:
        import json

        path = os.path.join(self.options.folder, name)
        with open(path + ".part", "w") as file:
            json.dump(record, file)
        os.replace(path + ".part", path)

    def opened(self) -> None:
        self.say(
            self.name() + ".open.json",
            {
                "framework": self.framework,
                "rank": _place()[0],
                "world": _place()[1],
                "try": self.tries + 1,
                "step": self.step,
            },
        )

    def done(self, verdict: str, **facts: Any) -> None:
        """Ends a try, with what is known of it."""
        record = {"rank": _place()[0], "try": self.tries + 1, "verdict": verdict}
        record.update(facts)
        self.say(self.name() + ".done.json", record)
        self.tries += 1
        self.verdict = verdict


class Torch(_Recorder):
    """Counts the steps of optimizers, and records a window of steps, or of time without any."""

    framework = "torch"

    def __init__(self, module: Any, options: Options) -> None:
        _Recorder.__init__(self, module, options)
        self.calls = 0
        self.counts: dict[Any, Any] = {}
        self.last_call: dict[Any, Any] = {}
        self.profile: Any = None
        self.is_ours = False
        self.is_timed = False
        self.next_step: Any = None
        self.own_trace: Any = None
        self.spent_s = 0.0
        self.wanted = options.steps
        self.began_s = 0.0

    def begin(self) -> None:
        import threading

        _Recorder.begin(self)
        optimizer: Any = sys.modules["torch.optim.optimizer"]
        self.undo.append(optimizer.register_optimizer_step_post_hook(self._stepped).remove)
        self._watch_other_profilers()
        if os.environ.get("RANK") or _is_main_process():
            threading.Thread(target=self.guarded, args=(self._by_time,), daemon=True).start()

    # ----------------------------------------------------------------------------- windows of steps

    def _stepped(self, optimizer: Any, *_arguments: Any) -> None:
        if not self.is_over and not self.is_timed and not self.is_by_hand:
            self.guarded(self._count, id(optimizer))

    def _count(self, key: int) -> None:
        """The program's step is the least count of the optimizers that are alive."""
        self.calls += 1
        self.counts[key] = self.counts.get(key, 0) + 1
        self.last_call[key] = self.calls
        oldest = self.calls - LIVE_CALLS * len(self.counts)
        step = min(count for one, count in self.counts.items() if self.last_call[one] >= oldest)
        if step > self.step:
            self.step = step
            self.boundary()

    def boundary(self) -> None:
        import time

        self.passed(self.profile is not None)
        if self.is_timed:
            return
        if self.profile is not None:
            self._ours(self.profile.step)
            if len(self.window_s) > self.wanted:
                self._close("ok")
        elif self._is_due():
            self._open()
        self.last_s = time.perf_counter()

    def _is_due(self) -> bool:
        if bool(self.module.autograd._profiler_enabled()):
            return False
        if self.tries:
            return self._is_second_due()
        return self.is_steady()

    def _is_second_due(self) -> bool:
        """Where any rank of this node is not content with the first, all take the second."""
        if self.step < self.next_step:
            return False
        verdicts = _verdicts(self.options.folder, self.tries)
        if all(verdict in ("ok", "truncated") for verdict in verdicts):
            self.is_over = True
        return not self.is_over

    def _open(self) -> None:
        if not self.is_wanted():
            self.is_over = True
            return
        import time

        profiler = self.module.profiler
        self.opened()
        self.window_s = []
        self.began_s = time.perf_counter()
        self._synchronize()
        self.profile = profiler.profile(
            activities=self._activities(),
            schedule=profiler.schedule(wait=0, warmup=1, active=self.wanted, repeat=1),
            on_trace_ready=self._export,
            record_shapes=True,
            with_stack=self.options.stack,
            with_modules=False,
            with_flops=False,
            profile_memory=False,
        )
        self._ours(self.profile.start)

    def _activities(self) -> list[Any]:
        kinds = self.module.profiler.ProfilerActivity
        found = [kinds.CPU]
        for name in ("cuda", "xpu"):
            device = getattr(self.module, name, None)
            if device is not None and device.is_initialized() and hasattr(kinds, name.upper()):
                found.append(getattr(kinds, name.upper()))
        return found

    def _synchronize(self) -> None:
        if self.module.cuda.is_initialized():
            self.module.cuda.synchronize()

    def _ours(self, call: Any, *arguments: Any) -> None:
        """Calls our own profiler, which must not look like one of the program."""
        self.is_ours = True
        try:
            call(*arguments)
        finally:
            self.is_ours = False

    def _export(self, profile: Any) -> None:
        path = os.path.join(self.options.folder, self.name() + ".json.part")
        profile.export_chrome_trace(path)

    def _close(self, ending: str) -> None:
        """Ends the window: packs its trace, judges it, and decides on a second try."""
        import time

        profile, self.profile = self.profile, None
        began_s = time.perf_counter()
        if ending == "ok" or len(self.window_s) > 1 or self.is_timed:
            self._synchronize()
        self._ours(profile.stop)
        recorded, before = self.window_s[1:], self.before_s[-10:]
        facts = {
            "steps": 0 if self.is_timed else min(len(recorded), self.wanted),
            "wanted": 0 if self.is_timed else self.wanted,
            "slowdown": _median(recorded) / _median(before) if recorded and before else None,
            "longest": max(recorded) / _median(recorded) if recorded else None,
        }

        def judged(counts: Any) -> Any:
            return dict(facts, verdict=self._judged(ending, counts, recorded))

        verdict = _pack(self.options.folder, self.name(), ".pt.trace.json.gz", judged)["verdict"]
        if verdict in ("empty", "nothing"):
            _remove(self.options.folder, self.name())
            return
        self.done(
            verdict,
            devices=len(self._activities()) > 1,
            seconds=time.perf_counter() - began_s,
            **facts,
        )
        self._next(verdict)

    def _judged(self, ending: str, counts: Any, recorded: list[Any]) -> str:
        if counts is None:
            return "nothing"
        if not counts["cpu_op"]:
            return "empty"
        if len(self._activities()) > 1 and not counts["kernel"]:
            return "no kernels"
        if not counts["Input Dims"]:
            return "no shapes"
        if ending == "truncated":
            return "truncated"
        if recorded and max(recorded) > COLD * _median(recorded):
            return "cold"
        return "ok"

    def _next(self, verdict: str) -> None:
        is_alone = _place()[1] == 1
        if self.tries >= MOST_TRIES or (is_alone and verdict in ("ok", "truncated")):
            self.is_over = True
        if verdict == "no kernels":
            self.wanted = 2 * self.options.steps
        self.next_step = self.step + (AGAIN_STEPS if is_alone else AGAIN_RANKS_STEPS)

    # ------------------------------------------------------------------------------ windows of time

    def _by_time(self) -> None:
        """Records a stretch of time in a program that steps no optimizer."""
        import time

        pause_s = self.options.after_s
        while not self.is_over:
            time.sleep(pause_s)
            if self.step or self.is_over or self.is_by_hand:
                return
            if not self.module.autograd._profiler_enabled():
                self._timed_window()
            pause_s = min(4 * FIRST_PAUSE_S, max(FIRST_PAUSE_S, 2 * pause_s))

    def _timed_window(self) -> None:
        import time

        begun = in_main_thread(lambda: self.guarded(self._open_timed))
        if not begun or self.profile is None:
            return
        time.sleep(self.options.duration_s)
        in_main_thread(lambda: self.guarded(self._close_timed))

    def _open_timed(self) -> None:
        """Operators are recorded by thread: this runs in the main one."""
        profiler = self.module.profiler
        if self.step:
            return
        # The first profile of a process pays for imports, which would be all of the window.
        with profiler.profile(activities=self._activities()):
            pass
        options: dict[Any, Any] = {}
        if self.tries and hasattr(self.module._C._profiler, "_ExperimentalConfig"):
            config = self.module._C._profiler._ExperimentalConfig(profile_all_threads=True)
            options["experimental_config"] = config
        self.is_timed = True
        self.opened()
        self._synchronize()
        self.profile = profiler.profile(
            activities=self._activities(),
            on_trace_ready=self._export,
            record_shapes=True,
            with_stack=self.options.stack,
            **options,
        )
        self._ours(self.profile.start)

    def open_now(self) -> None:
        """Begins a window of time in this thread, the only one."""
        self.is_by_hand = True
        self._open_timed()

    def close_now(self) -> None:
        """Ends it, in the same thread."""
        if self.is_timed:
            self._close_timed()

    def _close_timed(self) -> None:
        if self.profile is not None:
            self._close("ok")
        self.is_timed = False

    # ------------------------------------------------------------------------------ other profilers

    def _watch_other_profilers(self) -> None:
        """The program's own profiler has the right of way."""
        profiler = self.module.autograd.profiler.profile
        for name in ("_prepare_trace", "_start_trace", "__enter__"):
            if hasattr(profiler, name):
                self.patch(profiler, name, self._before(getattr(profiler, name)))
        if hasattr(self.module.profiler.profile, "export_chrome_trace"):
            export = self.module.profiler.profile.export_chrome_trace

            def exported(profile: Any, path: str, *arguments: Any, **named: Any) -> Any:
                result = export(profile, path, *arguments, **named)
                if not str(path).startswith(self.options.folder):
                    self.own_trace = os.path.abspath(path)
                return result

            self.patch(self.module.profiler.profile, "export_chrome_trace", exported)

    def _before(self, method: Any) -> Any:
        def called(*arguments: Any, **named: Any) -> Any:
            if self.profile is not None and not self.is_ours:
                self.guarded(self._give_way)
            return method(*arguments, **named)

        return called

    def _give_way(self) -> None:
        profile, self.profile = self.profile, None
        profile.on_trace_ready = None
        self._ours(profile.stop)
        _remove(self.options.folder, self.name())
        self.is_timed = False

    def end(self) -> None:
        if self.profile is not None:
            self._close("truncated")
        self.say("ended-%d.json" % os.getpid(), {"steps": self.step, "own_trace": self.own_trace})


class Jax(_Recorder):
    """Waits until nothing has been compiled for a moment, and records a stretch of time."""

    framework = "jax"

    def __init__(self, module: Any, options: Options) -> None:
        import threading
        import time

        _Recorder.__init__(self, module, options)
        self.compiling = 0
        self.compiled = 0
        self.compiled_s = time.perf_counter()
        self.session: Any = None
        self.compiled_before = 0
        self.is_counting = False
        self.lock = threading.RLock()
        self.began_s = 0.0

    def begin(self) -> None:
        import threading

        _Recorder.begin(self)
        self.module.monitoring.register_event_duration_secs_listener(self._event)
        self._watch_other_traces()
        threading.Thread(target=self.guarded, args=(self._by_time,), daemon=True).start()

    def _event(self, event: str, _duration_s: float, **_facts: Any) -> None:
        import time

        if event.endswith("jaxpr_to_mlir_module_duration"):
            self.compiling += 1
        elif event.endswith("backend_compile_duration"):
            self.compiling = max(0, self.compiling - 1)
            self.compiled += 1
            self.compiled_s = time.perf_counter()

    def _by_time(self) -> None:
        import time

        quiet_s = QUIET_S
        while not self.is_over and self.tries < MOST_TRIES:
            time.sleep(0.05)
            has_run = self.compiled or self.was_used
            is_quiet = has_run and not self.compiling and not self.is_by_hand
            if not is_quiet or time.perf_counter() - self.compiled_s < quiet_s:
                continue
            if not self.is_wanted() or not self._open():
                time.sleep(QUIET_S)
                continue
            time.sleep(self.options.duration_s)
            self._close("cold" if self._is_cold() else "ok")
            quiet_s = COLD_QUIET_S

    def _is_cold(self) -> bool:
        """Whether anything was compiled since the window began."""
        return bool(self.compiled != self.compiled_before or self.compiling)

    def boundary(self) -> None:
        """Steps that the program counts: the device is waited for at both ends of the window."""
        import time

        self.passed(self.session is not None)
        if self.session is not None and self.is_counting:
            if len(self.window_s) >= self.options.steps:
                self._wait()
                self._close("cold" if self._is_cold() else "ok")
        elif self.session is None and self.is_steady() and self.is_wanted():
            self._wait()
            self.window_s = []
            self.is_counting = self._open()
        self.last_s = time.perf_counter()

    def marked(self) -> Any:
        return self.module.profiler.StepTraceAnnotation("step", step_num=self.step)

    def _wait(self) -> None:
        self.module.block_until_ready(self.module.live_arrays())

    def open_now(self) -> None:
        """Begins a window of time, the only one."""
        self.is_by_hand = True
        self._open()

    def close_now(self) -> None:
        """Ends it, when the device has done what it was given."""
        if self.session is not None and not self.is_counting:
            self._wait()
            self._close("cold" if self._is_cold() else "ok")

    def _open(self) -> bool:
        """False where another capture of the program runs."""
        import time

        with self.lock:
            options = self.module.profiler.ProfileOptions()
            options.host_tracer_level = 2
            options.python_tracer_level = 0
            try:
                self.is_ours = True
                self.module.profiler.start_trace(self._folder(), profiler_options=options)
            except Exception:  # noqa: BLE001 -- "Another profiling session active"
                return False
            finally:
                self.is_ours = False
            self.session = True
            self.compiled_before = self.compiled
            self.began_s = time.perf_counter()
            self.opened()
            return True

    def _folder(self) -> str:
        return os.path.join(self.options.folder, self.name() + ".folder")

    def _close(self, ending: str) -> None:
        import time

        with self.lock:
            if self.session is None:
                return
            self.session = None
            length_s = time.perf_counter() - self.began_s
            content = self._content()
            if not content or len(content) < 1000:
                self.is_counting = False
                return
            name = self.name() + ".xplane.pb"
            path = os.path.join(self.options.folder, name)
            with open(path + ".part", "wb") as file:
                file.write(content)
                file.write(_warning(RECORDING + " " + _json({"verdict": ending})))
            os.replace(path + ".part", path)
            # Steps are given to the device one after the other: only their sum is known.
            steps = len(self.window_s) if self.is_counting else 0
            self.done(
                ending,
                steps=steps,
                wanted=self.options.steps if self.is_counting else 0,
                slowdown=None,
                longest=None,
                devices=self.module.default_backend() != "cpu",
                seconds=time.perf_counter() - self.began_s - length_s,
            )
            self.is_counting = False
            if ending == "ok" or self.tries >= MOST_TRIES:
                self.is_over = True

    def _content(self) -> bytes:
        """The capture. `stop_trace` also writes a trace viewer's file, for seconds in which the
        program stands still: the session's own `stop` gives the bytes alone."""
        state: Any = getattr(sys.modules.get("jax._src.profiler"), "_profile_state", None)
        session: Any = getattr(state, "profile_session", None)
        if hasattr(session, "stop") and hasattr(state, "reset"):
            with state.lock:
                content = session.stop()
                state.reset()
            if isinstance(content, bytes):
                return content
        self.is_ours = True
        try:
            self.module.profiler.stop_trace()
        finally:
            self.is_ours = False
        for folder, _, names in os.walk(self._folder()):
            for name in names:
                if name.endswith(".xplane.pb"):
                    with open(os.path.join(folder, name), "rb") as file:
                        return file.read()
        return b""

    def _watch_other_traces(self) -> None:
        profiler = self.module.profiler
        start = profiler.start_trace
        self.is_ours = False

        def started(*arguments: Any, **named: Any) -> Any:
            if not self.is_ours:
                self.guarded(self._give_way)
            return start(*arguments, **named)

        self.patch(profiler, "start_trace", started)

    def _give_way(self) -> None:
        """Ours ends first, and is used where it has half of its time."""
        import time

        if self.session is not None:
            has_half = time.perf_counter() - self.began_s >= self.options.duration_s / 2
            if has_half:
                self._close("truncated")
            else:
                with self.lock:
                    self.session = None
                    self._content()

    def end(self) -> None:
        self.is_over = True
        self._close("truncated")
        self.say("ended-%d.json" % os.getpid(), {"steps": self.step, "own_trace": None})


FRAMEWORKS = {"torch": Torch, "jax": Jax}


def _is_main_process() -> bool:
    process = sys.modules.get("multiprocessing.process")
    return process is None or process.parent_process() is None


def in_main_thread(call: Any) -> bool:
    """Runs `call` in the main thread, and waits for it; false where it did not come to that."""
    import ctypes
    import threading

    finished = threading.Event()

    def run(_nothing: Any) -> int:
        try:
            call()
        finally:
            finished.set()
        return 0

    kind = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
    pending = kind(run)
    _pending.append(pending)  # C has no reference to it
    if ctypes.pythonapi.Py_AddPendingCall(pending, None) != 0:
        return False
    return finished.wait(60.0)


_pending: list[Any] = []


def _verdicts(folder: str, number: int) -> list[Any]:
    """The verdicts of all ranks of this node on the try of this number."""
    import json

    found = []
    for name in os.listdir(folder):
        if name.endswith("_try%d.done.json" % number):
            with open(os.path.join(folder, name)) as file:
                found.append(json.load(file)["verdict"])
    return found


def _json(record: dict[str, Any]) -> str:
    import json

    return json.dumps(record)


def _warning(text: str) -> bytes:
    """A warning at the end of an XSpace, as protocol buffers write it."""
    written, length = text.encode(), bytearray()
    rest = len(written)
    while rest > 127:
        length.append(rest & 127 | 128)
        rest >>= 7
    length.append(rest)
    return b"\x1a" + bytes(length) + written


def _pack(folder: str, name: str, ending: str, judged: Any) -> Any:
    """Compresses the trace that was written, with what `judged` makes of the counts of what must be
    in it, which are `None` without a trace; and returns that."""
    import gzip

    source = os.path.join(folder, name + ".json.part")
    target = os.path.join(folder, name + ending)
    counts = {"cpu_op": 0, "kernel": 0, "Input Dims": 0}
    words = {one: ('"cat": "%s"' % one).encode() for one in ("cpu_op", "kernel")}
    words["Input Dims"] = b'"Input Dims"'
    if not os.path.exists(source):
        return judged(None)
    last = b""
    with open(source, "rb") as plain, gzip.open(target + ".part", "wb", compresslevel=1) as packed:
        for line in plain:
            for one, word in words.items():
                counts[one] += word in line
            packed.write(last)
            last = line
        facts = judged(counts)
        if last.rstrip().endswith(b"}"):  # of the whole document
            said = ', "%s": %s}\n' % (RECORDING, _json(facts))
            last = last.rstrip()[:-1] + said.encode()
        packed.write(last)
    os.replace(target + ".part", target)
    os.remove(source)
    return facts


def _remove(folder: str, name: str) -> None:
    for ending in (".open.json", ".json.part", ".pt.trace.json.gz"):
        path = os.path.join(folder, name + ending)
        if os.path.exists(path):
            os.remove(path)
