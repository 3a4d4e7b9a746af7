"""A stand-in for the original mailbox program's hook, written from its description; it knows messages by id only.

It prints ids at a session's start and after a tool (at most every 30 seconds for the same ones), and holds the
end of a session once while a message has no receipt.
"""

import json
import pathlib
import re
import sys
import time

ID = "msg_[0-9]{8}T[0-9]{6}_[0-9abcdefghjkmnpqrstvwxyz]{26}"


def main() -> None:
    event = json.loads(sys.stdin.read() or "{}")
    box = pathlib.Path(event.get("cwd") or ".") / ".codex-mailbox"
    unread = unread_ids(box)
    name = event.get("hook_event_name")
    listed = ", ".join(unread[:5])
    if name == "SessionStart":
        say(
            name,
            f"This project uses the CodexPigeon mailbox. Look at INBOX.md at checkpoints. Unread: {listed or 'none'}",
        )
    elif name == "PostToolUse" and unread and is_due(box / "HOOK_STATE.json", unread):
        say(name, f"Unread mailbox messages: {listed}. Inspect INBOX.md and add receipts.")
    elif name == "Stop":
        if unread and not event.get("stop_hook_active"):
            print(json.dumps({"decision": "block", "reason": f"Before finalizing, handle {listed}."}), end="")
        else:
            print(json.dumps({"continue": True}), end="")


def unread_ids(box: pathlib.Path) -> list[str]:
    def found(name: str, form: str) -> list[str]:
        path = box / name
        return re.findall(form, path.read_text(), re.MULTILINE) if path.exists() else []

    answered = set(found("RECEIPTS.md", rf"^\s*message_id:\s+({ID})\s*$"))
    return [one for one in found("INBOX.md", rf"^\s*##\s+({ID})\s*$") if one not in answered]


def is_due(path: pathlib.Path, unread: list[str]) -> bool:
    state = json.loads(path.read_text()) if path.exists() else {}
    signature, now = ",".join(unread), int(time.time())
    if state.get("last_unread_signature") == signature and now - state.get("last_notice_at", 0) < 30:
        return False
    path.write_text(json.dumps({"last_notice_at": now, "last_unread_signature": signature}))
    return True


def say(event: str, text: str) -> None:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}), end="")


if __name__ == "__main__":
    main()
