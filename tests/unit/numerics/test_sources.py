"""Which sources machine code goes with: all that a kernel can be made of."""

import ast
from collections.abc import Iterator
from pathlib import Path

import hushway
from hushway.numerics.compiled import reached_from_kernels

ROOT = Path(hushway.__file__).parent
SOURCES = {
    path.relative_to(ROOT.parent).as_posix(): path.read_bytes() for path in ROOT.rglob("*.py")
}


def imported(source: bytes) -> Iterator[str]:
    """Yields the modules that a file imports, as Python reads it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield node.module or ""
            yield from (f"{node.module}.{name.name}" for name in node.names)


def files(module: str) -> set[str]:
    path = module.replace(".", "/")
    return {f"{path}.py", f"{path}/__init__.py"} & SOURCES.keys()


def test_every_import_of_a_reached_file_is_reached() -> None:
    reached = reached_from_kernels(SOURCES)
    assert 50 < len(reached) < len(SOURCES)
    for name in reached:
        for module in imported(SOURCES[name]):
            assert files(module) <= reached, (name, module)


def test_every_file_with_a_compiled_function_is_reached() -> None:
    reached = reached_from_kernels(SOURCES)
    for name, source in SOURCES.items():
        if any(module.startswith("numba") for module in imported(source)):
            assert name in reached or name.startswith("hushway/numerics/"), name


def test_reached_files_import_nothing_by_name_at_run_time() -> None:
    for name in reached_from_kernels(SOURCES):
        assert b"import_module" not in SOURCES[name], name
        assert b"__import__" not in SOURCES[name], name


def test_an_edit_elsewhere_reaches_no_kernel() -> None:
    reached = reached_from_kernels(SOURCES)
    assert "hushway/families/density/rows/grouping.py" in reached
    assert not {name for name in reached if name.startswith(("hushway/cli/", "hushway/artefact/"))}
