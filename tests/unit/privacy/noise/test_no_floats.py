"""No float takes part in a draw: read from the source text of every sampling module."""

import ast
from pathlib import Path

import pytest

import hushway.privacy.noise.inversion

FOLDER = Path(hushway.privacy.noise.inversion.__file__).parent
FORECASTS = {"__init__", "forecast"}  # public numbers for readers, never part of a draw
MODULES = sorted(path for path in FOLDER.glob("*.py") if path.stem not in FORECASTS)

# A quotient with one of these in it is a quotient of fractions, or of mpmath intervals.
EXACT_NAMES = {"scale", "sigma_squared", "rate", "context"}
WHOLE_MATH = {"isqrt", "factorial"}
WHOLE_NUMPY = {"int64", "uint64", "bool_"}
FLOAT_NUMPY = ("float", "double", "single", "half", "longdouble", "exp", "log", "random", "sqrt")


def offences(text: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            found.append(f"line {node.lineno}: the literal {node.value}")
        elif isinstance(node, ast.Name) and node.id in {"float", "complex", "round", "Decimal"}:
            found.append(f"line {node.lineno}: {node.id}")
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
            found += [f"line {node.lineno}: /"] if not names(node) & EXACT_NAMES else []
        elif isinstance(node, ast.Attribute):
            found += _bad_attribute(node)
    return found


def names(node: ast.AST) -> set[str]:
    inside = list(ast.walk(node))
    plain = {part.id for part in inside if isinstance(part, ast.Name)}
    return plain | {part.attr for part in inside if isinstance(part, ast.Attribute)}


def _bad_attribute(node: ast.Attribute) -> list[str]:
    owner = node.value.id if isinstance(node.value, ast.Name) else ""
    if owner == "math" and node.attr not in WHOLE_MATH:
        return [f"line {node.lineno}: math.{node.attr}"]
    if owner == "np" and node.attr.startswith(FLOAT_NUMPY):
        return [f"line {node.lineno}: np.{node.attr}"]
    if node.attr in {"mean", "std", "limit_denominator", "from_float", "as_integer_ratio"}:
        return [f"line {node.lineno}: .{node.attr}"]
    return []


def test_the_list_of_modules_is_the_whole_package() -> None:
    assert {path.stem for path in MODULES} >= {
        "exponential",
        "gaussian",
        "inversion",
        "laplace",
        "lazy",
    }


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_sampling_module_contains_no_float(path: Path) -> None:
    assert offences(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_sampling_module_does_not_import_the_forecasts(path: Path) -> None:
    imported = [
        node.module
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
    ]
    assert "hushway.privacy.calibration" not in imported


@pytest.mark.parametrize(
    "line",
    [
        "x = 0.5",
        "x = 1e3",
        "x = float(y)",
        "x = words / 2**63",
        "x /= 3",
        "x = math.exp(-1)",
        "x = math.sqrt(2)",
        "x = np.float64(3)",
        "x = words.astype(float)",
        "x = np.zeros(3, dtype=np.float32)",
        "x = np.exp(y)",
        "x = np.random.default_rng()",
        "x = values.mean()",
    ],
)
def test_the_check_itself_sees_a_float(line: str) -> None:
    assert offences(line)
