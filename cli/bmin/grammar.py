"""The grammar of lists of whole numbers: `1024`, `8,16,32`, `2:64`, `2:64:2`, `16:4096:x2`."""

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import islice

from bminlib.decimals import check_digits, integer_from_text
from bminlib.errors import DomainError, shown
from bminlib.problem import parse_tau

MAX_NUMBERS = 100_000
MAX_NUMBER_DIGITS = 100_000
_MAX_EXPONENT_DIGITS = 7


def whole_numbers(text: str, option: str) -> list[int]:
    """The numbers that `text` lists, ascending and each once; raises DomainError for anything else.

    Both ends of a range are in; `^` is a power. At most MAX_NUMBERS numbers of at most
    MAX_NUMBER_DIGITS digits.
    """
    numbers: set[int] = set()
    for item in text.split(","):
        numbers.update(islice(_item(item.strip(), option), MAX_NUMBERS + 1))
        if len(numbers) > MAX_NUMBERS:
            raise DomainError(
                f"{option} {shown(text)}: at most {MAX_NUMBERS} numbers go into one call; "
                "take a larger step, or a factor such as x2"
            )
    return sorted(numbers)


def digit_count(text: str) -> int:
    """The number of significant digits that --digits names; raises DomainError."""
    return check_digits(int(text) if _is_digits(text) and len(text) <= 9 else text)


def one_number(text: str | None, option: str, example: str) -> int:
    """The one whole number that `text` names; raises DomainError for a list, or for None."""
    if text is None:
        raise DomainError(f"{option} is missing: name it, for example {option} {example}")
    numbers = whole_numbers(text, option)
    if len(numbers) != 1:
        raise DomainError(f"{option} {shown(text)}: one number is wanted here; leave {numbers[0]}")
    return numbers[0]


def rational(text: str, option: str) -> Fraction:
    """The exact number >= 0 that `text` names: a decimal such as 1e-6 or a fraction such as 1/3."""
    try:
        number = parse_tau(text, 1)
    except DomainError:
        number = None
    if number is None or not number.is_rational:
        if text.strip() in ("0", "0.0"):
            return Fraction(0)
        raise DomainError(
            f"{option} {shown(text)}: an exact number >= 0 is wanted; write 1e-6, 0.5 or 1/3"
        )
    return number.radicand


def _item(item: str, option: str) -> Iterable[int]:
    """One number, or a range `first:last`, `first:last:step`, `first:last:xfactor`."""
    first, *rest = item.split(":")
    if not rest:
        return [_number(first, item, option)]
    last, step = rest if len(rest) == 2 else (*rest, "1")[:2]
    if len(rest) > 2:
        raise _grammar_error(item, option)
    by_factor = step.startswith("x")
    start, stop, by = (_number(n, item, option) for n in (first, last, step.removeprefix("x")))
    return _steps(start, stop, by, by_factor, f"{option} {shown(item)}")


def _steps(start: int, stop: int, step: int, by_factor: bool, shown_item: str) -> Iterator[int]:
    if stop < start:
        raise DomainError(f"{shown_item}: the range ends before it starts; swap its ends")
    if step < 1 or (by_factor and (step < 2 or start < 1)):
        rule = (
            "a factor is at least 2 from a start of at least 1" if by_factor else "a step is >= 1"
        )
        raise DomainError(f"{shown_item}: {rule}; write 16:4096:x2 or 2:64:2")
    number = start
    while number <= stop:
        yield number
        number = number * step if by_factor else number + step


def _number(text: str, item: str, option: str) -> int:
    base, caret, exponent = text.partition("^")
    exponent = exponent if caret else "1"
    if not (_is_digits(base) and _is_digits(exponent)):
        raise _grammar_error(item, option)
    if len(base) <= MAX_NUMBER_DIGITS and len(exponent) <= _MAX_EXPONENT_DIGITS:
        number, power = integer_from_text(base), int(exponent)
        if power * math.log10(max(number, 1)) < MAX_NUMBER_DIGITS:
            return int(number**power)
    raise DomainError(
        f"{option} {shown(text)}: a number here has at most {MAX_NUMBER_DIGITS} digits; "
        "take a smaller one"
    )


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _grammar_error(item: str, option: str) -> DomainError:
    return DomainError(
        f"{option} {shown(item)}: not a list of whole numbers; "
        "write 1024, 8,16,32, 2:64, 2:64:2, 16:4096:x2 or 10^1000"
    )
