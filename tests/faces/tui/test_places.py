"""Where the mail is that a person sees: on a server that is lost and comes back, behind an account, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.faces.http.api import running

from restante.domain.message import Draft

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.faces.tui.conftest import Eye, Place

    Looking = Callable[..., None]

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("place", ["local"], indirect=True)]


def test_a_server_that_is_lost_is_shown_as_lost_and_come_back_from(
    place: Place, looking: Looking, tmp_path: Path
) -> None:
    data = tmp_path / "elsewhere"
    data.mkdir()
    with running(data) as first:
        port = first.api().port
        place.environment["RESTANTE_SERVER_URL"] = first.api().url
        place.environment["RESTANTE_DATA"] = str(data)
        place.session(1, "builder", turns=1)
        place.person.set_persistence(True)
        place.post("builder", "before")

        async def story(eye: Eye) -> None:
            await eye.sees("builder", "1/1")
            first.stop()
            await eye.sees("the server does not answer", "builder", "1/1")
            await eye.press("enter")
            await eye.sees("the server does not answer")
            await eye.press("escape")
            with running(data, "--port", str(port)) as second:
                second.api()
                place.post("builder", "after")
                await eye.until(lambda text: "2/2" in text and "does not answer" not in text, "the server again")
                await eye.press("enter")
                await eye.sees("before", "after")

        looking(story)


def test_an_account_sees_its_own_and_nobody_elses(place: Place, looking: Looking, tmp_path: Path) -> None:
    data = tmp_path / "elsewhere"
    data.mkdir()
    with running(data) as server:
        api = server.api()
        accounts = {name: f"correct horse {name}" for name in ("ada", "ben")}
        for name, password in accounts.items():
            answer = api.ask("POST", "/accounts", {"name": name, "password": password}, server.person())
            assert answer.status == 200, answer
        places = {}
        for number, (name, password) in enumerate(accounts.items(), start=1):
            url = f"http://{name}:{password.replace(' ', '%20')}@127.0.0.1:{api.port}"
            places[name] = place._replace(environment={**place.environment, "RESTANTE_SERVER_URL": url})
            places[name].session(number, f"builder-of-{name}", turns=1)
            places[name].post(f"builder-of-{name}", f"for {name}")
        place.environment["RESTANTE_SERVER_URL"] = places["ada"].environment["RESTANTE_SERVER_URL"]

        async def story(eye: Eye) -> None:
            await eye.sees("builder-of-ada", "1/1")
            assert "ben" not in eye.text
            await eye.press("enter")
            await eye.sees("for ada")
            await eye.press("w")
            await eye.sees("Leave it")
            await eye.type("more")
            await eye.press("ctrl+s")
            await eye.sees("Left for builder-of-ada")
            await eye.press("escape", "escape")
            await eye.sees("2/2")
            await eye.press("m")
            await eye.sees("server.url")
            await eye.press("escape", "s")
            await eye.sees("Settings")
            seen = ""
            while "http://... of a server" not in eye.text:
                await eye.press("down")
                seen += eye.text
            assert "horse" not in seen

        looking(story)
        assert places["ben"].person.sessions()[0].counts.total == 1


def test_mail_in_postgresql_is_shown_written_and_watched(place: Place, looking: Looking, postgres_url: str) -> None:
    place.environment["RESTANTE_DATABASE_URL"] = postgres_url
    agent = place.session(1, "builder", turns=1)
    place.session(2, "reviewer", turns=1)
    place.post("builder", "in the database")

    async def story(eye: Eye) -> None:
        await eye.sees("builder", "1/1")
        await eye.press("enter")
        await eye.sees("in the database")
        await eye.press("w")
        await eye.sees("Leave it")
        await eye.type("from the screen")
        await eye.press("ctrl+s")
        await eye.sees("Left for builder")
        await eye.press("escape", "escape")
        agent.post("reviewer", Draft("look"))
        await eye.sees("2/2", "1/1")
        await eye.press("s")
        await eye.sees("The database keeps it.")
        assert postgres_url not in eye.text

    looking(story)
    assert [entry.message.body for entry in agent.read().entries] == ["in the database", "from the screen"]
