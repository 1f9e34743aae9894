"""Promise: a user's own formula is read safely, and its values have exact signs."""

import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmin_derivations.formula import Node, parse
from bmin_derivations.formula_values import OpenValueError, difference, number, settled, sign
from bminlib import DomainError

REFUSED = [
    ("9**9**9**9", "an exponent must be a plain number"),
    ("(" * 10**6 + "L" + ")" * 10**6, "a formula of 2000001 characters"),
    ("(" * 45 + "L" + ")" * 45, "brackets are nested more than 40 deep"),
    ("-" * 900 + "L", "operations are nested more than 80 deep"),
    ("+".join("L" * 300), "operations are nested more than 80 deep"),
    ("x + 1", "holds 'x'"),
    ("L.real", "holds 'L.real'"),
    ("__import__('os')", "holds '__import__'"),
    ("sqrt(L, 2)", "holds 'sqrt(L, 2)'"),
    ("sqrt(x=L)", "holds 'sqrt(x=L)'"),
    ("min(L)", "holds 'min'"),
    ("L^2", "a power is written **"),
    ("0x10", "holds '0x10'"),
    ("1_000", "holds '1_000'"),
    ("1j", "holds '1j'"),
    ("True", "holds 'True'"),
    ("'a'", "holds"),
    ("[L for L in d]", "holds"),
    ("lambda: 1", "holds"),
    ("L if 1else 2", "holds"),
    ("L // 2", "holds"),
    ("L < d", "holds"),
    ("L; d", "is not a formula"),
    ("L = 1", "is not a formula"),
    ("", "is no formula"),
    ("L\n+1", "characters that no formula needs"),
    ("\u00b2", "characters that no formula needs"),
    ("L**L", "an exponent must be a plain number"),
    ("L**(1/0)", "an exponent must be a plain number"),
    ("L**1000", "an exponent must be a plain number"),
    ("((L**8)**8)**8", "powers within powers"),
    ("exp(exp(exp(L)))", "exp is nested"),
    ("1e99999", "holds '1e99999'"),
    ("9" * 60, "holds"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED, ids=lambda value: str(value)[:24])
def test_what_is_no_formula_gets_one_sentence_at_once(text: str, words: str) -> None:
    began = time.perf_counter()
    with pytest.raises(DomainError) as caught:
        parse(text)
    assert time.perf_counter() - began < 0.5
    message = str(caught.value)
    assert words in message
    assert len(message) < 400
    assert "\n" not in message


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text(alphabet="Ld123tau+-*/().,sqrtexplogflo ^_[]{}:'", max_size=60))
def test_any_text_is_a_tree_or_one_sentence(text: str) -> None:
    try:
        found = parse(text)
    except DomainError as error:
        found = str(error)
    assert isinstance(found, Node) or "\n" not in found


def test_decimals_are_exact() -> None:
    assert parse("0.1").value == Fraction(1, 10)
    assert parse("L**0.75").value == Fraction(3, 4)
    assert parse("1.5e-3").value == Fraction(3, 2000)


def _sign(left: str, right: str) -> int | None:
    names = {"L": number(7), "d": number(5), "tau": number(Fraction(1, 3))}
    return sign(difference(settled(parse(left), names), settled(parse(right), names)))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("sqrt(5 + 2*sqrt(6))", "sqrt(2) + sqrt(3)", 0),
        ("sqrt(2) + sqrt(3)", "3.14626436994197234", 1),
        ("sqrt(2) + sqrt(3)", "3.14626436994197234232913506571558", -1),
        ("(1 + sqrt(2))**-1", "sqrt(2) - 1", 0),
        ("(2 + sqrt(3))**(1/4)", "(1 + sqrt(3))**(1/2)/2**(1/4)", 0),
        ("floor(sqrt(2)*sqrt(8))", "4", 0),
        ("ceil(sqrt(2)*sqrt(8))", "4", 0),
        ("floor(-L/2)", "-4", 0),
        ("ceil(-L/2)", "-3", 0),
        ("exp(log(L))", "L", None),
        ("exp(1)", "2.718281828459045235360287471352662497757", 1),
        ("tau", "1/3", 0),
        ("10**50 + 10**-50", "10**50", 1),
    ],
)
def test_signs_are_exact(left: str, right: str, expected: int | None) -> None:
    assert _sign(left, right) == expected


def test_an_integer_part_that_stays_open_is_said_to_be_open() -> None:
    with pytest.raises(OpenValueError):
        _sign("floor(log(exp(2)))", "2")
