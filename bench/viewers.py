"""Viewers in Python, where `wrk` is not installed: each asks, waits, and asks again.

    python -m bench.viewers URL VIEWERS SECONDS PAUSE

It says what `bench.server` reads: RESULT, answers, p50, p99 and longest in milliseconds, errors.
Plain sockets, one connection per viewer: an HTTP library needs as long for an answer as the server.
"""

import asyncio
import random
import re
import statistics
import sys
import time
from urllib.parse import SplitResult, urlsplit

TIMEOUT_S = 10.0
FAILED = float("inf")


async def view(address: SplitResult, until: float, pause_s: float) -> list[float]:
    """The time of each answer, in milliseconds; infinity for one that failed."""
    times: list[float] = []
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    lines = (f"GET {address.path} HTTP/1.1", f"Host: {address.netloc}", "Accept-Encoding: gzip")
    request = "".join(f"{line}\r\n" for line in (*lines, "")).encode()
    try:
        while True:
            await asyncio.sleep(random.uniform(0, 2 * pause_s))
            started = time.perf_counter()
            if started >= until:
                return times
            async with asyncio.timeout(TIMEOUT_S):
                writer.write(request)
                is_good = await _answer(reader)
            times.append((time.perf_counter() - started) * 1000 if is_good else FAILED)
    except (OSError, TimeoutError, asyncio.IncompleteReadError):
        return [*times, FAILED]
    finally:
        writer.close()


async def _answer(reader: asyncio.StreamReader) -> bool:
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    await reader.readexactly(int(length[1]) if length else 0)
    return head.startswith(b"HTTP/1.1 200 ")


async def watch(url: str, viewers: int, seconds: float, pause_s: float) -> list[float]:
    """The times of all viewers."""
    until = time.perf_counter() + seconds
    seen = await asyncio.gather(*(view(urlsplit(url), until, pause_s) for _ in range(viewers)))
    return [answer for times in seen for answer in times]


def main() -> None:
    url, viewers, seconds, pause_s = sys.argv[1:]
    found = asyncio.run(watch(url, int(viewers), float(seconds), float(pause_s)))
    times = sorted(one for one in found if one != FAILED)
    if len(times) < 2:
        sys.exit("nothing was answered")
    p99 = statistics.quantiles(times, n=100, method="inclusive")[98]
    median, errors = statistics.median(times), len(found) - len(times)
    print(f"RESULT {len(times)} {median:.3f} {p99:.3f} {times[-1]:.3f} {errors}")


if __name__ == "__main__":
    main()
