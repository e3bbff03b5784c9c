"""Logging in through a provider at another address, as a browser does it: redirects and cookies."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage
from tests.browser.serving import serving
from tests.browser.watching import Watch
from tests.web.http.sign_in import SignIn, signing_in

# The mock is written for an earlier Authlib.
pytestmark = pytest.mark.filterwarnings("ignore:get_jwt_config")
WANTED = "/limits?from=a&link=b"
STYLE = "**/*.min.css"  # of the mock's pages, from elsewhere


def at_provider(page: Page, provider: SignIn) -> None:
    page.wait_for_url(lambda url: url.startswith(f"{provider.url}/oauth2/authorize"))


def log_in(page: Page) -> None:
    page.get_by_role("button", name="ada").click()


def test_person_lands_on_the_page_asked_for_and_leaves_again(
    new_page: NewPage, watches: list[Watch], tmp_path: Path
) -> None:
    with signing_in() as provider:
        settings = {f"ROOFLINE_{name.upper()}": text for name, text in provider.settings().items()}
        with serving(tmp_path, settings) as server:
            page = new_page(server.url)
            watches[-1].expect("request to another host")
            watches[-1].expect("403")
            watches[-1].expect(r"min\.css|favicon")
            page.route(STYLE, lambda route: route.fulfill(body="", content_type="text/css"))
            page.goto(WANTED)
            at_provider(page, provider)
            foreign = parse_qs(urlsplit(page.url).query)["state"][0]
            log_in(page)
            page.wait_for_url(server.url + WANTED)
            assert page.request.get("/api/v1/profiles").status == 200
            page.goto("/")
            page.get_by_role("button", name="Log out").click()
            page.wait_for_url(lambda url: not url.startswith(server.url))
            page.goto("/")
            at_provider(page, provider)
            page.goto(f"/login/callback?code=x&state={foreign}")
            expect(page.get_by_role("alert")).to_be_visible()
            assert page.request.get("/api/v1/profiles").status == 401
