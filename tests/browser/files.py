"""Files as a user brings them: dropped on the page, or pasted."""

import base64
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import JSHandle, Page

_TRANSFER = """(files) => {
  const transfer = new DataTransfer();
  for (const { name, content } of files) {
    const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
    transfer.items.add(new File([bytes], name));
  }
  return transfer;
}"""


def drag(page: Page, paths: Sequence[Path], target: str = "#drop-zone") -> JSHandle:
    """Drags `paths` over `target` and holds them there; pass the result to `release`."""
    files = [
        {"name": path.name, "content": base64.b64encode(path.read_bytes()).decode()}
        for path in paths
    ]
    transfer = page.evaluate_handle(_TRANSFER, files)
    for kind in ("dragenter", "dragover"):
        page.dispatch_event(target, kind, {"dataTransfer": transfer})
    return transfer


def release(page: Page, transfer: JSHandle, target: str = "#drop-zone") -> None:
    """Drops what is held."""
    page.dispatch_event(target, "drop", {"dataTransfer": transfer})


def drop(page: Page, *paths: Path, target: str = "#drop-zone") -> None:
    """Drags `paths` to `target` and drops them."""
    release(page, drag(page, paths, target), target)


def paste(page: Page, *paths: Path) -> None:
    """Pastes `paths`, as copied in a file manager."""
    files = [
        {"name": path.name, "content": base64.b64encode(path.read_bytes()).decode()}
        for path in paths
    ]
    transfer = page.evaluate_handle(_TRANSFER, files)
    page.evaluate(
        "(data) => document.body.dispatchEvent(new ClipboardEvent('paste',"
        " { clipboardData: data, bubbles: true, cancelable: true }))",
        transfer,
    )
