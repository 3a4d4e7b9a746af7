"""House numbers: what is short is read."""

from __future__ import annotations

import statistics

import pytest
from tests.architecture.source import functions, lines_of, modules, place, public_things, tree_of

MODULE_CAP, MODULE_MEDIAN = 500, 200
FUNCTION_CAP, FUNCTION_P90 = 80, 35


def function_sizes() -> dict[str, int]:
    sizes = {}
    for path in modules():
        for node in functions(path):
            sizes[f"{place(path, node)} {node.name}"] = (node.end_lineno or node.lineno) - node.lineno + 1
    return sizes


def test_no_module_is_over_its_cap() -> None:
    assert {place(path): lines_of(path) for path in modules() if lines_of(path) > MODULE_CAP} == {}


def test_half_of_the_modules_are_short() -> None:
    sizes = [lines_of(path) for path in modules() if tree_of(path).body]
    assert len(sizes) >= 20
    assert statistics.median(sizes) < MODULE_MEDIAN


def test_no_function_is_over_its_cap() -> None:
    assert {name: size for name, size in function_sizes().items() if size > FUNCTION_CAP} == {}


def test_nine_of_ten_functions_are_short() -> None:
    assert statistics.quantiles(function_sizes().values(), n=10)[-1] <= FUNCTION_P90


@pytest.mark.parametrize("path", modules(), ids=lambda path: place(path).partition(":")[0])
def test_every_public_name_says_what_it_is(path: object) -> None:
    import ast
    from pathlib import Path

    assert isinstance(path, Path)
    bare = [f"{place(path, node)} {name}" for name, node in public_things(path) if not ast.get_docstring(node)]
    # Rules of a state machine and an empty package say it by their name.
    assert [one for one in bare if "testing/machine.py" not in one] == []
