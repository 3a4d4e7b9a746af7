"""The doctor's lines about the server of tools: where it is registered, whether it answers, who calls it in vain."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

from restante.agents import mcp_servers
from restante.agents.hookline import calls_tool
from restante.domain.errors import RestanteError
from restante.domain.setup import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from restante.agents.ground import Ground

_INSTALL = "restante install --mcp"


def tool_lines(ground: Ground) -> Iterator[Check]:
    """Yield a line for each program that the server is registered for, and whether it answers; nothing for none.

    Raises:
        Unreadable: A hooks file is not what it should be.
    """
    found = []
    for agent in mcp_servers.PLACES:
        try:
            there = mcp_servers.look(ground.root, agent)
        except RestanteError as error:
            yield Check(f"{agent}: tools", False, error.message, error.remedy)
            continue
        calls = any(calls_tool(entry) for path in ground.hook_files(agent) for entry in ground.entries(path).values())
        remedy = f"{_INSTALL}{' hooks' if calls else ''} --agent {agent}"
        if not there.is_ours:
            if calls:
                yield Check(f"{agent}: tools", False, "hooks call a server that is not registered", remedy)
            continue
        found.append(agent)
        if there.entry == mcp_servers.wanted(agent, ground.bin_dir, ground.env):
            yield Check(f"{agent}: tools", True, f"registered in {there.path}")
        else:
            yield Check(f"{agent}: tools", False, f"out of date in {there.path}", remedy)
    if found:
        yield _answers(ground)


def _answers(ground: Ground) -> Check:
    """Ask the server that programs would start for its tools."""
    program = os.path.join(ground.bin_dir, "restante")
    asked = b"".join(
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method}).encode() + b"\n"
        for number, method in enumerate(("initialize", "tools/list"), 1)
    )
    try:
        done = subprocess.run(
            [program, "mcp"],
            input=asked,
            env=ground.env,
            cwd=ground.root,
            capture_output=True,
            timeout=ground.timeout,
            check=False,
        )
        names = [one["name"] for one in json.loads(done.stdout.splitlines()[-1])["result"]["tools"]]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError, IndexError):
        return Check("tools", False, f"{program} mcp does not answer", "by hand: install Restante again")
    return Check("tools", True, f"{program} mcp answers: {', '.join(names)}")
