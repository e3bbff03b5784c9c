"""The link of communication that the capture does not name, where the user tells its peak."""

from dataclasses import replace

from roofline.model.device import Device, PeakOrigin
from roofline.model.memory import LINKS, MemoryLevel
from roofline.model.profile import Profile
from roofline.model.timeline import Timeline


def told_link(device: Device) -> MemoryLevel | None:
    """The one link between devices whose peak the user set; `None` where it is not exactly one."""
    told = {peak.level for peak in device.links if peak.origin is PeakOrigin.USER}
    between = told & LINKS - {MemoryLevel.HOST}
    return between.pop() if len(between) == 1 else None


def with_told_link(profile: Profile, link: MemoryLevel | None) -> Profile:
    """`profile`, whose communication over an unknown link is over `link`."""
    if profile.timeline is None or link is None:
        return profile
    return replace(profile, timeline=_told(profile.timeline, link))


def _told(timeline: Timeline, link: MemoryLevel) -> Timeline:
    exposed = dict(timeline.times.exposed_ps)
    unknown = exposed.pop(None, None)
    if unknown is not None:
        exposed[link] = exposed.get(link, 0.0) + unknown
    links = tuple(link if one is None else one for one in timeline.transfers.link)
    return replace(
        timeline,
        times=replace(timeline.times, exposed_ps=exposed),
        transfers=replace(timeline.transfers, link=links),
    )
