"""The Typer application: arguments in, exit code out."""

import sys
from importlib import import_module
from typing import Annotated

import typer

from bminlib.errors import DomainError, InfeasibleError, UndecidedError

COMMANDS = (
    "compute",
    "horizon",
    "witness",
    "verify",
    "certify",
    "count",
    "rates",
    "geometry",
    "storage",
    "train",
    "compare",
    "derive",
    "check",
)
_INTERRUPTED = 130
_EXAMPLES = """\b
Examples:
  bmin compute --L 16,256,4096              # every placement side by side
  bmin compute --norm post --L 1024         # without and with a learned gain
  bmin compute --norm post --L 16:4096:x2 --format json
  bmin compute --norm pre --affine bare --d 23 --L 243,244
  bmin compute --norm none --L 10^1000 --digits 50
  bmin compute --exact --L 1:4              # no rounding: softmax can't
  bmin compute --L 64 --method solve        # each value a second time, by root-finding
  bmin horizon --d 3:64                     # how far bare pre-norm can count
  bmin witness --norm post --L 64 --d 8 --out w.json  # weights that prove it
  bmin verify w.json
  bmin certify --norm post --L 16 --d 8 --by search --gap 1e-6 --out cert.json
  bmin verify cert.json                     # a certificate, proved again from the file alone
  bmin count --weights w.json 1 0 1 1
  bmin rates --plot rates.pdf               # exponents and constants, and the figure
  bmin geometry --norm post --affine learned --L 64 --plot geometry.svg
  bmin storage --L 16 --norm post           # numbers and bits of both read-outs
  bmin train --out runs                     # trained from scratch, 3 minutes; needs bminlib[train]
  bmin compare runs                         # slopes, ratios to B_min, where trained counts lie
  bmin derive post.bare                     # a theorem, step by step
  bmin check trivial                        # a theorem, checked by machine; all if none is named
  bmin check --formula "L**(3/2)/(4*sqrt(2*d))" --as lower --norm post --affine bare --L 4:256
"""


def application(arguments: list[str]) -> typer.Typer:
    """The application with the one command that `arguments` name, or with all of them.

    Building a command costs milliseconds, so a call pays for the one it runs only.
    """
    app = typer.Typer(
        help="What it costs an attention layer to count: exact least norm bounds B_min(L).",
        epilog=_EXAMPLES,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_root)
    for name in arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS:
        app.command(name, epilog=_EXAMPLES)(import_module(f"bmin.commands.{name}").command)
    return app


def run(arguments: list[str]) -> int:
    """Run `bmin` with these arguments and give its exit code: 0, 1, 2, or 130 after Ctrl-C."""
    try:
        code = application(arguments)(arguments, prog_name="bmin", standalone_mode=False)
    except DomainError as error:
        return _complain(str(error), 2)
    except typer.TyperException as error:
        message = error.format_message().replace("Value error, ", "").rstrip(".")
        return _complain(f"{message}; see bmin --help or bmin COMMAND --help", 2)
    except (InfeasibleError, UndecidedError) as error:
        return _complain(str(error), 1)
    except InterruptedError as error:
        return _complain(str(error), _INTERRUPTED)
    except OSError as error:
        return _complain(str(error), 1)
    except KeyboardInterrupt:
        code = _INTERRUPTED
    if code == _INTERRUPTED:
        return _complain("interrupted; nothing was written", code)
    return code or 0


def main() -> None:
    """Entry point of the command."""
    sys.exit(run(sys.argv[1:]))


def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        from bminlib import __version__

        typer.echo(f"bmin {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _complain(message: str, code: int) -> int:
    sys.stderr.write(f"bmin: {' '.join(message.split())}\n")
    return code
