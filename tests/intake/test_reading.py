"""``restante read`` and ``restante archive ID --sha256``: exit codes, what is shown, what is left as it was."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import jsonschema
import pytest

from restante.faces.cli.intake_schemas import INTAKE_SCHEMAS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.inboxes import Inboxes, Told

TO = ("--project", "demo", "--agent", "codex")


def read(inboxes: Inboxes, reference: object, *words: object) -> Told:
    told = inboxes.run("read", reference, "--verified", *TO, "--json", *words)
    if told.out:
        jsonschema.Draft202012Validator(INTAKE_SCHEMAS["read"]).validate(told.json)
    return told


def message(inboxes: Inboxes, name: str) -> Path:
    return inboxes.agents / "codex" / "inbox" / name


def test_a_message_is_read_by_its_file_its_path_or_its_id(inboxes: Inboxes) -> None:
    name = inboxes.send()
    path = message(inboxes, name)
    by_file = read(inboxes, name)
    assert by_file.code == 0
    assert by_file.json["message"]["body"].strip() == "It is done."
    assert by_file.json["message_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert read(inboxes, path).json["message"] == by_file.json["message"]
    assert read(inboxes, by_file.json["message"]["id"]).json["message"] == by_file.json["message"]


def test_the_snapshot_holds_the_very_bytes_and_is_private(inboxes: Inboxes, tmp_path: Path) -> None:
    name = inboxes.send()
    kept = tmp_path / "kept.yaml"
    assert read(inboxes, name, "--snapshot-out", kept).json["snapshot_path"] == str(kept)
    assert kept.read_bytes() == message(inboxes, name).read_bytes()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert read(inboxes, name, "--snapshot-out", kept).code == 2


def test_a_person_sees_it_fenced_and_escaped(inboxes: Inboxes) -> None:
    name = inboxes.send(body="\x1b[2J~~~ hi")
    told = inboxes.run("read", name, *TO)
    assert told.code == 0
    assert "~~~~\n\\x1b[2J~~~ hi" in told.out
    assert "\x1b" not in told.out


def test_held_malformed_and_unread_have_codes_of_their_own(inboxes: Inboxes) -> None:
    name = inboxes.send()
    message(inboxes, "20261001000000_x_notification_0002.yaml").write_text("id: m\nfrom: x\n")
    message(inboxes, "20261001000000_x_notification_0003.yaml").write_text("{broken")
    message(inboxes, "20261001000000_x_notification_0004.yaml").symlink_to("/etc/hostname")
    assert read(inboxes, "20261001000000_x_notification_0002.yaml").code == 4
    assert read(inboxes, "20261001000000_x_notification_0003.yaml").code == 2
    assert read(inboxes, "20261001000000_x_notification_0004.yaml").code == 2
    assert read(inboxes, "nothing.yaml").code == 2
    assert inboxes.run("read", name, "--project", "nope", "--agent", "codex").code == 2
    inboxes.policy("signing: {verify_mode: enforce}\n")
    held = read(inboxes, name)
    assert held.code == 3
    assert held.json["message"] is None
    assert os.path.exists(held.json["quarantine_copy"])
    assert "It is done" not in inboxes.run("read", name, *TO).out
    assert message(inboxes, name).exists()


def archive(inboxes: Inboxes, name: str, digest: str) -> Told:
    told = inboxes.run("archive", name, "--sha256", digest, *TO, "--json")
    if told.out:
        jsonschema.Draft202012Validator(INTAKE_SCHEMAS["archive ID"]).validate(told.json)
    return told


def test_11_4_3_a_message_of_just_these_bytes_goes_into_the_archive(inboxes: Inboxes) -> None:
    name = inboxes.send()
    raw = message(inboxes, name).read_bytes()
    told = archive(inboxes, name, hashlib.sha256(raw).hexdigest())
    assert told.code == 0
    assert told.json["path"] == str(message(inboxes, f"archive/{name}"))
    assert message(inboxes, f"archive/{name}").read_bytes() == raw
    assert not message(inboxes, name).exists()


@pytest.mark.parametrize("spoiled", ["digest", "destination", "missing", "link"])
def test_whatever_is_not_as_it_must_be_retains_the_message(inboxes: Inboxes, spoiled: str) -> None:
    name = inboxes.send()
    path = message(inboxes, name)
    raw = path.read_bytes()
    digest = hashlib.sha256(raw).hexdigest()
    if spoiled == "digest":
        digest = "0" * 64
    elif spoiled == "destination":
        message(inboxes, f"archive/{name}").symlink_to("/nowhere")
    elif spoiled == "missing":
        (inboxes.agents / "codex" / "inbox" / "archive" / ".gitkeep").unlink()
        (inboxes.agents / "codex" / "inbox" / "archive").rmdir()
    else:
        path.rename(path.with_suffix(".real"))
        path.symlink_to(path.with_suffix(".real"))
    told = archive(inboxes, name, digest)
    assert told.code == 4
    assert told.json["archived"] is False
    assert told.json["reason"]
    assert path.read_bytes() == raw
    assert inboxes.run("archive", name, "--sha256", digest, *TO).out.startswith("RETAINED: ")


def test_message_and_digest_go_together(inboxes: Inboxes) -> None:
    name = inboxes.send()
    assert inboxes.run("archive", name, *TO).code == 2
    assert inboxes.run("archive", "--project", "demo").code == 2
    assert message(inboxes, name).exists()
