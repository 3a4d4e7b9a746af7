"""A real process that answers like ``codex app-server``, well or badly, as a script of JSON tells it.

``fake_app_server.py SCRIPT app-server``; members of the script, all optional:
    log: File to which every line that arrives is added, and ``start`` for each process.
    answers: Method -> list of answers, used up one by one, the last for ever. An answer is the response without its
        id, or {"silent": true}, or {"exit": code, "saying": text}.
    noise: Lines written before every answer; ``$ID`` becomes the id of the request.
    stderr_flood, stdout_flood: Bytes written to the one or the other before every answer.
    failing_starts: So many processes end at once, complaining.
    deaf_after: Stop reading for ever after so many lines.
    close_stdin_after: Close the standard input, and live on, after so many lines; ``first process`` only.
    stubborn: Ignore SIGTERM and the end of the standard input.
    stray: Leave behind a process that escapes from the group and holds the output open; its id goes to this file.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time
from typing import Any

HANDSHAKE: dict[str, Any] = {
    "result": {"userAgent": "fake", "codexHome": "/nowhere", "platformFamily": "unix", "platformOs": "linux"}
}


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def flood(stream: Any, size: int) -> None:
    filler = "x" * 1000
    while size > 0:
        stream.write(filler + "\n")
        size -= 1001
    stream.flush()


def forever() -> None:
    while True:
        time.sleep(3600)


def leave_a_stray(note: str) -> None:
    stray = os.fork()
    if not stray:
        os.setsid()
        forever()
    with open(note, "w", encoding="ascii") as file:
        file.write(str(stray))


def reply(script: dict[str, Any], given: dict[str, int], request: dict[str, Any]) -> None:
    method, number = request["method"], request["id"]
    flood(sys.stderr, script.get("stderr_flood", 0))
    if script.get("stdout_flood"):
        say(json.dumps({"method": "noise", "params": {"text": "x" * script["stdout_flood"]}}))
    for line in script.get("noise", []):
        say(line.replace("$ID", str(number)))
    answers = script.get("answers", {}).get(method, [HANDSHAKE if method == "initialize" else {"result": {"data": []}}])
    answer = answers[min(given.get(method, 0), len(answers) - 1)]
    given[method] = given.get(method, 0) + 1
    if "exit" in answer:
        sys.stderr.write(answer.get("saying", "") + "\n")
        sys.stderr.flush()
        os._exit(answer["exit"])
    if not answer.get("silent"):
        say(json.dumps({"id": number} | answer))


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        script = json.load(file)
    assert sys.argv[2:] == ["app-server"], sys.argv
    with open(script["log"], "a+", encoding="utf-8") as log:
        fcntl.flock(log, fcntl.LOCK_SH)  # for as long as the process lives
        log.seek(0)
        starts = log.read().split("\n").count("start")
        log.write("start\n")
        log.flush()
        if starts < script.get("failing_starts", 0):
            sys.stderr.write("error loading config: bad key\n")
            sys.exit(1)
        if script.get("stubborn"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if script.get("stray"):
            leave_a_stray(script["stray"])
        given: dict[str, int] = {}
        for count, line in enumerate(sys.stdin, 1):
            log.write(line)
            log.flush()
            request = json.loads(line)
            if "id" in request:
                reply(script, given, request)
            if count == script.get("deaf_after"):
                forever()
            if count == script.get("close_stdin_after") and not starts:
                os.close(0)
                say(json.dumps({"method": "stdin/closed"}))
                forever()
        if script.get("stubborn"):
            forever()


if __name__ == "__main__":
    main()
