"""``doctor``: what is wrong with a tree."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError, UsageError
from restante.faces.oacp.ends import FAILED, Flags, clock, home_of, say, tell

if TYPE_CHECKING:
    from restante.wiring.examining import Examiner

_RANK = ("ok", "skip", "warn", "error")
_SIGNS = {"ok": "[+]", "skip": "[-]", "warn": "[!]", "error": "[x]"}


def doctor(words: list[str]) -> int:
    """Look the tree over; 1 where something is wrong."""
    flags = Flags("doctor", "Look the tree over; each finding names the command that mends it.")
    flags.add_argument("--project", default="")
    flags.add_argument("--audit-dir", default="", help="look at the name of this folder of audit records, too")
    flags.add_argument("--fix", action="store_true", help="make missing inboxes and status files, stamp stale ones")
    flags.add_argument("-o", "--output", default="", help="write the report into a file, too")
    flags.home()
    flags.json()
    given = flags.parse_args(words)
    from restante.wiring.examining import Examiner

    examiner = Examiner(home_of(given.oacp_dir), given.project, clock())
    fixed, trouble = _mended(examiner) if given.fix else ([], "")
    found = list(examiner.categories(given.audit_dir))
    has_errors = any(one.severity == "error" for _, results in found for one in results)
    worst = {name: max((one.severity for one in results), key=_RANK.index, default="ok") for name, results in found}
    if given.json:
        categories = [
            {"name": name, "worst_severity": worst[name], "results": [one.report() for one in results]}
            for name, results in found
        ]
        text = json.dumps({"has_errors": has_errors, "fixed": fixed, "categories": categories}, indent=2)
    else:
        lines = ["Auto-fixed:", *(f"  - {one}" for one in fixed), ""] if fixed else []
        for name, results in found:
            lines.append(f"{_SIGNS[worst[name]]} {name}")
            for one in results:
                lines.append(f"    {_SIGNS[one.severity]} {one.message}")
                lines += [f"        {one.fix_hint}"] if one.fix_hint else []
            lines.append("")
        text = "\n".join([*lines, "Errors found." if has_errors else "No issues found."])
    say(text)
    if given.output:
        try:
            with open(given.output, "w", encoding="utf-8") as stream:
                stream.write(text + "\n")
        except OSError as error:
            raise UsageError(f"--output {given.output}: {error.strerror}") from None
    if trouble:
        tell(f"ERROR: {trouble}")
    return FAILED if has_errors or trouble else 0


def _mended(examiner: Examiner) -> tuple[list[str], str]:
    """Return what was mended, and why nothing more was."""
    try:
        return examiner.mend(), ""
    except RestanteError as error:
        return [], error.message
