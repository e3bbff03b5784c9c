"""Viewers in Python, where `wrk` is not installed: each asks, waits, and asks again.

    python -m bench.viewers URL VIEWERS SECONDS PAUSE

It says what `bench.server` reads: RESULT, answers, p50, p99 and longest in milliseconds, errors.
"""

import asyncio
import random
import statistics
import sys
import time

import httpx

TIMEOUT_S = 10.0


async def view(client: httpx.AsyncClient, url: str, until: float, pause_s: float) -> list[float]:
    """The time of each answer, in milliseconds; infinity for one that failed."""
    times = []
    while True:
        await asyncio.sleep(random.uniform(0, 2 * pause_s))
        started = time.perf_counter()
        if started >= until:
            return times
        try:
            answer = await client.get(url)
            failed = answer.status_code != httpx.codes.OK
        except httpx.HTTPError:
            failed = True
        times.append(float("inf") if failed else (time.perf_counter() - started) * 1000)


async def watch(url: str, viewers: int, seconds: float, pause_s: float) -> list[float]:
    """The times of all viewers."""
    limits = httpx.Limits(max_connections=viewers, max_keepalive_connections=viewers)
    until = time.perf_counter() + seconds
    async with httpx.AsyncClient(limits=limits, timeout=TIMEOUT_S) as client:
        seen = await asyncio.gather(*(view(client, url, until, pause_s) for _ in range(viewers)))
    return [answer for times in seen for answer in times]


def main() -> None:
    url, viewers, seconds, pause_s = sys.argv[1:]
    found = asyncio.run(watch(url, int(viewers), float(seconds), float(pause_s)))
    times = sorted(one for one in found if one != float("inf"))
    if len(times) < 2:
        sys.exit("nothing was answered")
    p99 = statistics.quantiles(times, n=100, method="inclusive")[98]
    median, errors = statistics.median(times), len(found) - len(times)
    print(f"RESULT {len(times)} {median:.3f} {p99:.3f} {times[-1]:.3f} {errors}")


if __name__ == "__main__":
    main()
