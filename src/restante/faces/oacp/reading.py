"""``read``: one message, verified before it is parsed. The skill's script ``read_verified_message.py`` as a verb."""

from __future__ import annotations

import json
import os
import sys

from restante.domain.errors import RestanteError
from restante.faces.oacp.ends import USAGE, Flags, fail, home_of


def read(words: list[str]) -> int:
    """Print the message as one JSON object; 0 accepted, 2 not read, 3 held, 4 not as the format says."""
    flags = Flags("read", "Read one message of your own inbox so that it is safe to show.")
    flags.add_argument("message")
    flags.add_argument("--project", required=True)
    flags.add_argument("--receiver", required=True)
    flags.add_argument("--snapshot-out", default="", help="keep the very bytes that were read, in a new private file")
    flags.add_argument("--disposition-held", action="store_true", help="keep evidence of a held message")
    flags.home()
    given = flags.parse_args(words)
    from restante.wiring.intake import open_intake

    try:
        intake = open_intake(given.project, given.receiver, os.environ, home=home_of(given.oacp_dir))
        taken = intake.read(given.message, snapshot=given.snapshot_out, dispose=given.disposition_held)
    except RestanteError as error:
        return fail(error, as_json=True, code=USAGE)
    sys.stdout.write(json.dumps(taken.report(), indent=2, sort_keys=True) + "\n")
    return taken.exit_code
