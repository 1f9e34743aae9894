"""The errors that bminlib raises on purpose."""


class DomainError(ValueError):
    """An argument outside its domain; the message gives the value, the rule and the remedy."""


class InfeasibleError(ValueError):
    """A number was asked of a bound that does not exist; the message gives the reason."""


class UndecidedError(ArithmeticError):
    """A comparison that stayed open at the highest precision that was tried."""


def shown(value: object) -> str:
    """`value` as an error message quotes it: whole when short, its ends when long."""
    if isinstance(value, int) and value.bit_length() > 1000:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = repr(value)
    except ValueError:  # CPython refuses to print integers of over 4300 digits
        return f"a {type(value).__name__} too long to print"
    return text if len(text) <= 60 else f"{text[:40]}...{text[-12:]}"
