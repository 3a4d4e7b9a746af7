"""The official SDK's own client, against the server that programs start and against the one that runs."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from tests.faces.http.api import running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from tests.faces.http.api import Actor, Api
    from tests.faces.mcp.program import Ground

COMMAND = ("-I", "-c", "from restante.__main__ import main; main()", "mcp")
WAYS = ("auto", "legacy")


def text_of(result: Any) -> str:
    (content,) = result.content
    assert result.structured_content is None
    return str(content.text)


@asynccontextmanager
async def by_stdio(ground: Ground, way: str, **more: str) -> AsyncIterator[Client]:
    started = StdioServerParameters(
        command=sys.executable, args=[*COMMAND], env={**ground.environment, **more}, cwd=str(ground.root)
    )
    async with Client(stdio_client(started), mode=way) as client:
        yield client


@asynccontextmanager
async def by_http(api: Api, way: str, headers: dict[str, str] | None = None) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers or {}, timeout=60) as http,
        Client(streamable_http_client(f"{api.url}/mcp", http_client=http), mode=way) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("data"), RESTANTE_SERVER_RATE="100000") as server:
        yield server.api()


@pytest.fixture
def alice(api: Api) -> Actor:
    return api.actor("")


@pytest.fixture
def bob(api: Api) -> Actor:
    return api.actor("")


@pytest.mark.parametrize("way", WAYS)
def test_the_client_speaks_with_the_server_that_programs_start(ground: Ground, way: str) -> None:
    ground.register("aaaaaaaa-1", "alice")
    ground.register("bbbbbbbb-1", "bob", "claude")

    async def talk() -> None:
        async with by_stdio(ground, way, CLAUDE_CODE_SESSION_ID="bbbbbbbb-1") as client:
            assert [one.name for one in (await client.list_tools()).tools] == [
                *("inbox", "ack", "reply", "send", "who", "wait")
            ]
            sent = text_of(await client.call_tool("send", {"to": "alice", "text": "Take the parser."}))
            assert "sent as: session:bbbbbbbb-1 (verified)" in sent
            (resource,) = (await client.list_resources()).resources
            (content,) = (await client.read_resource(resource.uri)).contents
            assert "no mail waits" in getattr(content, "text", "")
            (template,) = (await client.list_resource_templates()).resource_templates
            assert template.uri_template == "restante://message/{id}"
            assert (await client.call_tool("ack", {"ids": ["nope12"]})).is_error
            with pytest.raises(MCPError):
                await client.call_tool("nope", {})

    asyncio.run(talk())
    assert ground.window("aaaaaaaa-1").read().counts.unseen == 1


@pytest.mark.parametrize("way", WAYS)
def test_the_client_speaks_with_the_server_that_runs(api: Api, alice: Actor, bob: Actor, way: str) -> None:
    async def talk() -> None:
        async with by_http(api, way, alice.proof) as client:
            assert len((await client.list_tools()).tools) == 6
            sent = text_of(await client.call_tool("send", {"to": bob.id, "text": "Take the parser."}))
            assert f"sent as: session:{alice.id} (verified)" in sent
            (resource,) = (await client.list_resources()).resources
            (content,) = (await client.read_resource(resource.uri)).contents
            assert "no mail waits" in getattr(content, "text", "")
            with pytest.raises(MCPError):
                await client.read_resource("restante://message/nope12")
            with pytest.raises(MCPError):
                await client.call_tool("nope", {})
        async with by_http(api, way, bob.proof) as client:
            shown = text_of(await client.call_tool("inbox", {}))
            assert "Take the parser." in shown
            message = shown.split()[0]
            assert bob.counts()["unseen"] == 0
            replied = text_of(await client.call_tool("reply", {"id": message, "text": "Which one?"}))
            assert "posted to" in replied
            done = text_of(await client.call_tool("ack", {"ids": [message], "action": "applied"}))
            assert done.splitlines()[0] == f"acknowledged {message}: applied"

    asyncio.run(talk())
    assert bob.counts()["pending"] == 0
    assert [one["text"] for one in alice.read("?peek=1")["messages"]] == ["Which one?"]


@pytest.mark.parametrize("way", WAYS)
def test_a_wait_on_the_running_server_ends_with_a_post_by_the_api_and_says_meanwhile_that_it_goes_on(
    api: Api, alice: Actor, bob: Actor, way: str
) -> None:
    told: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async def talk() -> str:
        async with by_http(api, way, alice.proof) as client:
            waiting = asyncio.create_task(client.call_tool("wait", {"seconds": 60}, progress_callback=note))
            while not alice.counts()["parked"]:
                assert not waiting.done()
                await asyncio.sleep(0.05)
            await asyncio.to_thread(bob.post, alice, "The lexer is done.")
            return text_of(await waiting)

    assert "The lexer is done." in asyncio.run(talk())
    assert told
    assert alice.counts()["unseen"] == 0


def test_a_post_by_a_tool_ends_a_wait_by_the_api(api: Api, alice: Actor, bob: Actor) -> None:
    from tests.faces.http.api import Background

    waiting = Background(lambda: bob.read("?wait=60000"))
    while not alice.counts(of=bob)["parked"]:
        assert not waiting.is_over

    async def talk() -> None:
        async with by_http(api, "auto", alice.proof) as client:
            await client.call_tool("send", {"to": bob.id, "text": "The lexer is done."})

    asyncio.run(talk())
    assert [one["text"] for one in waiting.result()["messages"]] == ["The lexer is done."]


def test_a_wait_that_nothing_ends_says_so(api: Api, alice: Actor) -> None:
    async def talk() -> str:
        async with by_http(api, "auto", alice.proof) as client:
            return text_of(await client.call_tool("wait", {"seconds": 0.5}))

    assert asyncio.run(talk()).startswith("no new mail in 0.5 s")


def test_a_thread_that_codex_names_is_believed_for_reading_and_labelled(api: Api, alice: Actor, bob: Actor) -> None:
    async def talk() -> str:
        async with by_http(api, "legacy") as client:
            sent = await client.call_tool(
                "send", {"to": bob.id, "text": "hello"}, meta=cast("Any", {"threadId": alice.id})
            )
            return text_of(sent)

    assert f"sent as: session:{alice.id} (unverified)" in asyncio.run(talk())


def test_mail_of_a_worktree_is_told_only_to_the_session_that_this_user_put_there(tmp_path: Path) -> None:
    from tests.faces.mcp.program import Ground

    from restante import Draft

    ground = Ground(tmp_path)
    secret = ground.register("aaaaaaaa-1", "alice")
    guidance = ground.office.send(Draft("Leave the auth module alone.")).posted.message.id

    async def shown(api: Api, headers: dict[str, str]) -> str:
        async with by_http(api, "auto", headers) as client:
            return text_of(await client.call_tool("inbox", {"peek": True}))

    async def answered(api: Api) -> str:
        async with by_http(api, "auto", {"Authorization": f"Bearer {secret}"}) as client:
            await client.call_tool("inbox", {})
            return text_of(await client.call_tool("ack", {"ids": [guidance], "decision": "accepted"}))

    with running(ground.data) as server:
        api = server.api()
        stranger = api.actor("mallory", workingDir=str(ground.root))
        assert "Leave the auth module alone." not in asyncio.run(shown(api, stranger.proof))
        assert "Leave the auth module alone." not in asyncio.run(shown(api, {"X-Restante-Session": "aaaaaaaa-1"}))
        assert "Leave the auth module alone." in asyncio.run(shown(api, {"Authorization": f"Bearer {secret}"}))
        assert "accepted" in asyncio.run(answered(api))
    assert ground.office.case(guidance).entry.standing.status == "accepted"
