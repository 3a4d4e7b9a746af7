#!/usr/bin/env bash
# Writes the locked sets from pyproject.toml: what running (base), building, developing (dev), fuzzing and the window need. Called by `make lock`.
set -euo pipefail
cd "$(dirname "$0")/.."
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT

"${1:-python3}" -m venv "$lists/venv"
"$lists/venv/bin/pip" install --quiet pip-tools==7.6.2
"$lists/venv/bin/python" - "$lists" <<'PY'
import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)
extras = project["project"]["optional-dependencies"]
# The window's parts are large, and not for every machine; what one extra has of another is locked with that one.
window = [name for name in extras.pop("desktop") if not name.startswith("restante[")]
sets = {
    "base": project["project"]["dependencies"],
    "build": [*project["build-system"]["requires"], "editables"],
    "dev": [*project["dependency-groups"]["dev"], *(name for extra in extras.values() for name in extra)],
    "fuzz": project["dependency-groups"]["fuzz"],
    "desktop": window,
}
for name, wanted in sets.items():
    with open(f"{sys.argv[1]}/{name}.in", "w") as file:
        file.write("\n".join(wanted) + "\n")
PY

# Each set agrees with those locked before it, since all of them are installed into one environment.
lock() {
	"$lists/venv/bin/pip-compile" --quiet --generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate \
		--newline lf --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
		--output-file "requirements/$1.txt" "${@:2}" "$lists/$1.in"
}
lock base
lock build --constraint requirements/base.txt
lock dev --constraint requirements/base.txt --constraint requirements/build.txt
lock fuzz
lock desktop --constraint requirements/dev.txt
