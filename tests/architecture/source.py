"""What the tests of this directory know about the source tree."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "restante"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.name != "_version.py")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def place(path: Path, node: ast.AST | None = None) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"


def functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(tree_of(path)) if isinstance(node, Function))


def public_things(path: Path) -> Iterator[tuple[str, ast.Module | ast.ClassDef | Function]]:
    """The module and every class, function and method that its name does not call private."""
    yield path.stem, tree_of(path)
    waiting: list[ast.Module | ast.ClassDef] = [tree_of(path)]
    while waiting:
        for node in waiting.pop().body:
            if not isinstance(node, ast.ClassDef | Function) or node.name.startswith("_"):
                continue
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                waiting.append(node)
