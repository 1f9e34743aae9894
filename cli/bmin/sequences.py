"""Token sequences from arguments or standard input, and the counts that weights give them."""

import sys
from collections.abc import Iterator, Mapping

from bmin import output
from bminlib.errors import DomainError, shown
from bminlib.files import load_weights
from bminlib.tokens import count
from bminlib.weights import Weights


def count_sequences(
    path: str, tokens: list[str] | None, alphabet: Mapping[str, int], style: str
) -> int:
    """Print the count of each sequence, a line each; 0."""
    weights = load_weights(path)
    records = [_record(weights, sequence) for sequence in _sequences(tokens, alphabet)]
    if style == "json":
        output.write(output.json_text(records))
    elif records:
        output.write("\n".join(str(record["count"]) for record in records))
    return 0


def _record(weights: Weights, sequence: list[int]) -> dict[str, int | bool]:
    targets = sum(sequence)
    counted = count(weights, sequence)
    fillers = len(sequence) - targets
    return {"c": targets, "m": fillers, "count": counted, "right": counted == targets}


def _sequences(tokens: list[str] | None, alphabet: Mapping[str, int]) -> Iterator[list[int]]:
    lines = [tokens] if tokens else [line.split() for line in sys.stdin]
    for words in lines:
        yield [kind for word in words for kind in _kinds(word, alphabet)]


def _kinds(word: str, alphabet: Mapping[str, int]) -> list[int]:
    """The tokens that a word spells: itself, or one a character."""
    if word in alphabet:
        return [alphabet[word]]
    unknown = next((letter for letter in word if letter not in alphabet), None)
    if unknown is not None:
        target, filler = alphabet
        raise DomainError(
            f"token {shown(word)}: a target is {target} and a filler is {filler} here; "
            "name others with --target and --filler"
        )
    return [alphabet[letter] for letter in word]
