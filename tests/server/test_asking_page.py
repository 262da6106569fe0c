"""Ask and balance in a real Chromium, against a running service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.server.conftest import ROOT, Watched
from tests.server.serving import COUNT, HOSTILE, Served, database, serving
from tests.server.test_page import SIZES, violations

QUOTED = HOSTILE.replace('"', '""')
BY_AGE = "SELECT age, COUNT(*) AS people FROM people GROUP BY age"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("served")
    with database(folder) as opened, serving(opened, folder) as there:
        yield there


def enter(browser: Browser, served: Served, token: str, *, size: str = "desktop", scheme: Any = "light") -> Watched:
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    seen = Watched(context.new_page(), served.url)
    seen.watch()
    seen.page.goto(f"{served.url}/ask.html")
    seen.page.locator("#token").fill(token)
    seen.page.keyboard.press("Enter")
    return seen


def ask(page: Page, sql: str) -> None:
    page.locator("#sql").fill(sql)
    expect(page.locator("#go")).to_be_enabled()
    page.locator("#go").click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_the_view_is_whole_and_accessible(browser: Browser, served: Served, size: str, scheme: str) -> None:
    seen = enter(browser, served, served.ada, size=size, scheme=scheme)
    ask(seen.page, COUNT)
    expect(seen.page.locator("#rows tr")).to_have_count(1)
    seen.page.locator("#aimed").check()
    expect(seen.page.locator("#price")).to_contain_text("within ±30")
    screenshots = ROOT / "screenshots"
    screenshots.mkdir(exist_ok=True)
    seen.page.screenshot(path=screenshots / f"ask-{size}-{scheme}.png", full_page=True)
    assert violations(seen) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]
    seen.check()
    seen.page.context.close()


def test_the_whole_journey_by_keyboard(browser: Browser, served: Served) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(served.url)
    page.get_by_role("link", name="Ask and balance").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/ask.html")

    def tab_to(name: str) -> None:
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == name:
                return
        raise AssertionError(name)

    tab_to("token")
    page.keyboard.type(served.owner)
    page.keyboard.press("Enter")
    expect(page.locator("#sql")).to_be_focused()
    page.keyboard.type(f"{COUNT} WHERE age > 33")
    expect(page.locator("#go")).to_be_enabled()
    expect(page.locator("#price")).to_contain_text("It costs rho")
    tab_to("go")
    page.keyboard.press("Enter")
    expect(page.locator("#rows td")).to_have_count(1)
    expect(page.locator("#paid")).to_contain_text("It cost rho")
    expect(page.locator("#history tr").first).to_contain_text("answered")
    context.close()


def test_what_is_shown_is_what_was_answered(browser: Browser, served: Served) -> None:
    seen = enter(browser, served, served.ada)
    seen.page.locator("#sql").fill(f"{COUNT} WHERE age > 41")
    expect(seen.page.locator("#go")).to_be_enabled()
    plan = served.send("POST", "/v1/explain", {"sql": f"{COUNT} WHERE age > 41"})[1]
    above, _, below = plan["cost"]["rho"].partition("/")
    expect(seen.page.locator("#price")).to_contain_text(f"rho {int(above) / int(below or 1):.6g}")
    expect(seen.page.locator("#more")).to_contain_text(f"About {plan['times']} more")
    seen.page.locator("#go").click()
    expect(seen.page.locator("#paid")).to_contain_text("It cost")
    answer = served.send("POST", "/v1/ask", {"sql": f"{COUNT} WHERE age > 41"})[1]
    assert answer["receipt"]["free"]
    expect(seen.page.locator("#rows td")).to_contain_text(f"{answer['rows'][0][0]:,}")
    told = json.loads(seen.page.locator("#line").text_content() or "")
    assert told == json.loads(answer["receipt"]["ledger"])
    seen.check()
    seen.page.context.close()


def test_spending_is_drawn_against_the_budget_as_the_table_tells_it(browser: Browser, tmp_path: Path) -> None:
    with database(tmp_path) as opened, serving(opened, tmp_path) as there:
        for age in range(4):
            there.send("POST", "/v1/ask", {"sql": f"{COUNT} WHERE age > {age}", "rho": "0.002"})
        there.send("POST", "/v1/ask", {"sql": "SELECT nothing FROM people"})
        there.send("POST", "/v1/ask", {"sql": f"{COUNT} WHERE age > 9", "rho": "0.002"}, token=there.bob)
        seen = enter(browser, there, there.ada)
        page = seen.page
        expect(page.locator("#history tr")).to_have_count(5)
        rows = [row.split("\t") for row in page.locator("#history").inner_text().split("\n")]
        assert [row[4] for row in rows] == ["refused: question_refused", *["answered"] * 4]
        assert [row[3] for row in rows] == ["", "0.008", "0.006", "0.004", "0.002"]
        page.locator("#over").select_option(label="people: rho")
        assert "0.01 of " in (page.locator("#spending svg").get_attribute("aria-label") or "")
        drawn = page.locator("#spending .edge").get_attribute("d") or ""
        heights = sorted({float(point.split()[1]) for point in drawn.replace("M", "L").split("L")[1:]}, reverse=True)
        steps = [low - high for low, high in pairwise(heights)]
        assert len(steps) == 5  # from nothing through four charges to what others have spent by now
        assert max(steps) - min(steps) < 0.1
        cap = float((page.locator("#spending .cap").get_attribute("d") or "").rsplit(" ", 1)[1])
        assert (heights[0] - cap) / steps[0] == pytest.approx(float(opened.ledger.standings()[0].cap) / 0.002, rel=0.01)
        seen.check()
        page.context.close()


def test_earlier_charges_are_fetched_a_page_at_a_time(browser: Browser, tmp_path: Path) -> None:
    with database(tmp_path) as opened, serving(opened, tmp_path) as there:
        for number in range(105):
            opened.ledger.charge({"rho": "1e-6"}, key=f"q{number}", dataset=opened.name, analyst="ada").seal(number)
        seen = enter(browser, there, there.ada)
        expect(seen.page.locator("#history tr")).to_have_count(100)
        seen.page.locator("#earlier").click()
        expect(seen.page.locator("#history tr")).to_have_count(105)
        expect(seen.page.locator("#earlier")).to_be_hidden()
        seen.check()
        seen.page.context.close()


def test_hostile_names_and_questions_are_text(browser: Browser, served: Served) -> None:
    seen = enter(browser, served, served.owner)
    ask(seen.page, f'SELECT SUM("{QUOTED}") AS "<img src=x onerror=window.harmed=1>" FROM people')
    expect(seen.page.locator("#columns th")).to_have_text("<img src=x onerror=window.harmed=1>")
    seen.page.locator("#sql").fill("<script>window.harmed=1</script>")
    expect(seen.page.locator("#go")).to_be_disabled()
    seen.page.wait_for_timeout(600)
    assert seen.page.evaluate("window.harmed") is None
    assert seen.page.locator("main img, main script").count() == 0
    seen.complaints = [each for each in seen.complaints if "422" not in each]  # Chromium notes each refusal
    seen.check()
    seen.page.context.close()


def test_the_first_view_is_light(browser: Browser, served: Served) -> None:
    page = browser.new_page()
    sizes = []
    page.on("requestfinished", lambda request: sizes.append(sum(request.sizes().values())))
    page.goto(f"{served.url}/ask.html")
    page.wait_for_timeout(500)
    page.close()
    assert len(sizes) >= 6
    assert sum(sizes) < 150_000


def test_a_foreign_token_is_told_so(browser: Browser, served: Served) -> None:
    seen = enter(browser, served, "indistinct_0_0")
    expect(seen.page.locator("#trouble")).to_contain_text("token that holds")
    expect(seen.page.locator("#go")).to_be_disabled()
    seen.page.context.close()


def test_two_tabs_race_for_the_last_unit_and_one_has_it(browser: Browser, tmp_path: Path) -> None:
    with database(tmp_path, epsilon="0.1", delta="0") as opened, serving(opened, tmp_path) as served:
        opened.questions = 1
        tabs = [enter(browser, served, token) for token in (served.ada, served.bob)]
        for age, tab in enumerate(tabs):
            tab.page.locator("#sql").fill(f"{COUNT} WHERE age > {age}")
            expect(tab.page.locator("#go")).to_be_enabled()
        for tab in tabs:
            tab.page.evaluate("setTimeout(() => document.getElementById('go').click(), 50)")
        told = []
        for tab in tabs:
            expect(tab.page.locator("#paid, #trouble").filter(has_text="left")).to_have_count(1)
            told.append((tab.page.locator("#trouble").inner_text() + tab.page.locator("#paid").inner_text()).lower())
            tab.page.context.close()
        assert sum("is asked, but 0 is left" in each for each in told) == 1
        assert sum("it cost epsilon 0.1" in each for each in told) == 1
