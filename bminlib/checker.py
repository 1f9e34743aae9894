"""Re-proves a certificate of B_min from its file alone, and shares no code with what wrote it.

It needs the standard library and python-flint only, so this file can be read, copied and run by
itself: `python checker.py cert.json`. docs/certificate.md says what is proved, and why these finite
checks prove it; the numbers below are its sections. Arithmetic is exact (fmpq), in balls (arb)
where a root, a logarithm or an exponential is needed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple

from flint import arb, ctx, fmpq

MAX_BYTES, MAX_WEIGHTS, MAX_WORK = 1 << 21, 20_000, 510_000
LOWER_BITS, UPPER_BITS = 512, (128, 512, 2048)
COUNT, INTEGER = "(0|[1-9][0-9]{0,4})", "(-?[0-9]{1,700})"
RATIONAL = f"{INTEGER}(?:/([0-9]{{1,700}}))?"
DECIMAL = r"([0-9]{1,400})(?:\.([0-9]{1,400}))?(?:e([+-]?[0-9]{1,3}))?"
TAU = r"(sqrt\()?([0-9]{1,400})(?:/([0-9]{1,400}))?(?(1)\))(?:/sqrt\(([0-9]{1,400})\))?"
CHOICES = {
    "attention": ("softmax", "linear"),
    "norm": ("none", "pre", "post"),
    "affine": ("bare", "learned", None),
    "normalizer": ("layer", "rms", None),
    "readout": ("regression", "classification"),
    "weights": ("free",),
    "exactness": ("rounded", "exact"),
}
VECTORS = ("q", "k_s", "k_t", "k_f", "v_s", "v_t", "v_f", "r")
Counts = dict[int, fmpq]


class NotProvedError(ValueError):
    """The file is malformed, or what it holds does not prove what it says; the message tells."""


class Statement(NamedTuple):
    """What has been proved: lower <= B_min <= upper, or where both are None: nothing counts."""

    problem: dict[str, Any]
    lower: str | None
    upper: str | None
    by: str


def check(data: bytes) -> Statement:
    """The statement of the certificate in `data`, proved; raises NotProvedError otherwise."""
    names = "kind", "version", "problem", "by", "gap", "lower", "upper", "proof", "weights"
    file = _object(_parsed(data), names)
    kind = file["kind"], type(file["version"]), file["version"]
    _need(kind == ("bminlib/certificate", int, 1), "has another kind")
    _need(file["by"] in ("theorem", "search"), "is by neither theorem nor search")
    p, gap = _problem(file["problem"]), _decimal(file["gap"])
    lower, upper = (None if file[x] is None else _decimal(file[x]) for x in ("lower", "upper"))
    with ctx.workprec(LOWER_BITS):
        _lower(p, lower, file["proof"], file["by"] == "theorem")
    if lower is None or upper is None:
        _need(lower is upper is file["weights"], "is feasible in one part, infeasible in another")
    else:
        _need(upper - lower <= gap * (lower if lower else 1), "leaves a wider gap than it says")
        _upper(p, upper, file["weights"])
    return Statement(file["problem"], file["lower"], file["upper"], file["by"])


def _need(holds: object, reason: str) -> None:
    if holds is not True:
        raise NotProvedError(f"not proved: the certificate {reason}")


# 1. Reading


def _parsed(data: bytes) -> Any:
    _need(len(data) <= MAX_BYTES, f"has over {MAX_BYTES} bytes")
    try:
        return json.loads(data, object_pairs_hook=_unique, parse_int=_short)
    except (ValueError, RecursionError) as error:
        raise NotProvedError(f"not proved: the certificate is no proper JSON, {error}") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _need(len(dict(pairs)) == len(pairs), "has the same key twice")
    return dict(pairs)


def _short(text: str) -> int:
    _need(len(text) <= 5, "has a long number that is no string")
    return int(text)


def _object(value: Any, names: Iterable[str]) -> dict[str, Any]:
    _need(isinstance(value, dict) and set(value) == set(names), f"needs exactly {sorted(names)}")
    return value  # type: ignore[no-any-return]


def _list(value: Any, length: int | None = None) -> list[Any]:
    _need(isinstance(value, list) and length in (None, len(value)), "has no list, or another one")
    return value  # type: ignore[no-any-return]


def _match(pattern: str, text: Any) -> Sequence[Any]:
    text = text if isinstance(text, str) else ""  # which no pattern matches
    found = re.fullmatch(pattern, text)
    if found is None:
        raise NotProvedError(f"not proved: the certificate has a malformed number, {text!r:.60}")
    return found.groups()


def _rational(text: Any) -> fmpq:
    above, below = _match(RATIONAL, text)
    _need(below is None or int(below) > 0, "divides by 0")
    return fmpq(int(above), int(below or 1))


def _vector(value: Any, d: int) -> list[fmpq]:
    vector = [_rational(entry) for entry in _list(value, d)]
    _need(all(int(e.q) & (int(e.q) - 1) == 0 for e in vector), "has weights that are not dyadic")
    return vector


def _decimal(text: Any) -> fmpq:
    whole, part, exponent = _match(DECIMAL, text)
    return int(whole + (part or "")) * fmpq(10) ** (int(exponent or 0) - len(part or ""))


def _problem(record: Any) -> Any:
    """The problem; with tau squared, `half` (exactly: 0), `spread`, the squared largest entry of a
    normalised vector, and `spare`, how many more weights its boxes may have.
    """
    p = SimpleNamespace(**_object(record, (*CHOICES, "d", "tau", "L")))
    for name, allowed in CHOICES.items():
        _need(vars(p)[name] in allowed, f"has an unknown {name}")
    _need((p.affine is None) == (p.normalizer is None) == (p.norm == "none"), "mixes up its norm")
    _need(type(p.d) is int, "has a dimension that is no integer")
    root, *parts = _match(TAU, p.tau)
    above, below, under = (int(part or 1) for part in parts)
    p.L, p.spread = int(_match(COUNT, p.L)[0]), p.d - (p.normalizer == "layer")
    _need(min(p.L, p.d, p.spread, above, below, under) > 0, "needs L, tau and a variance above 0")
    p.tau = fmpq(above, below) ** (1 if root else 2) / under
    p.linear, p.classes = p.attention == "linear", p.readout == "classification"
    p.half = fmpq(p.exactness == "rounded", 2)
    _need(not (p.classes and p.half == 0), "has no yhat to be exact")
    p.spare = MAX_WEIGHTS
    p.two_values = p.spread == 1 and (p.norm == "post" or (p.norm == "pre" and p.affine == "bare"))
    return p


def _weights(p: Any, value: Any, least: int = 0) -> Counts:
    """Whole weights on counts from `least` to L, not all of them 0."""
    _need(isinstance(value, dict), "needs weights on counts")
    p.spare -= len(value)
    _need(p.spare >= 0, f"has over {MAX_WEIGHTS} weights in its boxes")
    weights = {int(_match(COUNT, c)[0]): fmpq(int(_match(INTEGER, n)[0])) for c, n in value.items()}
    _need(all(least <= c <= p.L for c in weights), "has weights on what is no count")
    _need(any(n != 0 for n in weights.values()), "has no weights in a box")
    return weights


# 2. What vectors of norm <= B supply


def _supply(p: Any, B: fmpq) -> tuple[fmpq, arb]:
    """Bounds on (slope, gap or radius; |a_s - a_t|)."""
    tau, d, s, square = arb(p.tau).sqrt(), arb(p.d).sqrt(), arb(p.spread).sqrt(), arb(B * B)
    gain, reach = (arb(1), arb(1)) if p.norm == "none" else (s, 1 + s)
    if p.linear and p.norm != "post":
        amount = tau * (d**3 * B if p.affine == "bare" else square**2 * reach**3)
    else:
        amount = (1 if p.norm == "post" else 2) * (d * B if p.affine == "bare" else gain * square)
    mantissa, exponent = amount.upper().man_exp()
    scores = p.d if p.norm == "pre" and p.affine == "bare" else gain * reach * square
    return fmpq(mantissa) * fmpq(2) ** int(exponent), 2 * tau * scores


# 3. No parameters of norm <= lower count; lower None: none at all


def _lower(p: Any, lower: fmpq | None, proof: Any, theorem: bool) -> None:
    """The argument that the placement calls for."""
    if lower != 0:
        _need(not p.classes, "bounds a classification read-out, whose infimum is 0")
        amount, scores = _supply(p, lower or fmpq(0))
        if p.norm != "post" and not p.linear:
            bounded = lower is not None or (p.norm == "pre" and p.affine == "bare")
            gap = None if lower is None else amount
            _ratios(p, gap, scores if bounded else arb("inf"), _object(proof, ("boxes",))["boxes"])
            return
        if p.norm == "post" and lower is not None and not p.two_values and p.half > 0:
            (_row if theorem else _shapes)(p, amount, proof)
            return
        post, none = p.norm == "post", lower is None
        line = not post and not none and p.half > 0 and p.L * amount <= p.L - 1  # 3.1
        few = p.two_values and (p.L >= 2 or (not post and p.half == 0))  # 3.5
        turns = post and none and p.half == 0 and p.L >= 3 and theorem  # 3.6
        _need(line or few or turns, "has no argument for this bound")
    _object(proof, ())


def _surplus(p: Any, weights: Counts) -> fmpq:
    """N with sum n_c yhat(c) > N for every read-out that counts (exactly: = N)."""
    return sum((n * c - p.half * abs(n) for c, n in weights.items()), fmpq(0))


def _ratios(p: Any, gap: fmpq | None, scores: arb, boxes: Any) -> None:
    """3.2. Boxes of the score ratio a, closed one by one, that cover all that scores allow."""
    ends, logs = [], []
    for record in _list(boxes):
        box = _object(record, ("a", "left", "right"))
        low, high = (_ratio(a) for a in _list(box["a"], 2))
        _need(low[0] * high[1] <= high[0] * low[1], "has a box with its ends exchanged")
        weights = [_weights(p, box[side], least=1) for side in ("left", "right")]
        _need(_ratio_box_closed(p, gap, low, high, weights), f"leaves {box['a']!r:.60} open")
        ends.append((low, high))
        logs.append((_log(*low), _log(*high)))
    if p.two_values:
        values = (-scores, arb(0), scores)
        covered = all(any(low <= x <= high for low, high in logs) for x in values)
    else:
        joined = bool(ends) and all(a[1] == b[0] for a, b in pairwise(ends))
        covered = joined and logs[0][0] <= -scores and logs[-1][1] >= scores
    _need(covered, "leaves a score ratio out")


def _ratio(text: Any) -> tuple[fmpq, fmpq]:
    """(x, y) with a = x/y in [0, inf]."""
    x, y = (fmpq(1), fmpq(0)) if text == "inf" else (_rational(text), fmpq(1))
    _need(x >= 0, "has a negative ratio")
    return x, y


def _log(x: fmpq, y: fmpq) -> arb:
    return arb(x / y).log() if x and y else arb("inf" if x else "-inf")


def _ratio_box_closed(p: Any, gap: fmpq | None, low: Any, high: Any, ends: Any) -> bool:
    """Whether the Bernstein coefficients of N - |n_0| half - |mu| gap are large enough."""
    scale = low[0].q * high[0].q  # to integers: what follows is homogeneous in (x, y)
    x, y = ([scale * e for e in pair] for pair in zip(low, high, strict=True))
    room, mu, rest = [fmpq(0)] * 3, [fmpq(0)] * 3, [fmpq(0)] * 3
    for c in {*ends[0], *ends[1]}:
        n = [end.get(c, fmpq(0)) for end in ends]
        worth = [c * e - p.half * abs(e) for e in n]
        room = _plus_product(room, worth, [e + c * f for e, f in zip(x, y, strict=True)])
        mu, rest = _plus_product(mu, [c * e for e in n], y), _plus_product(rest, n, x)
    if gap is None and any(mu):
        return False
    parts = zip(room, mu, rest, strict=True)
    room = [r - p.half * abs(m + e) - (gap or 0) * abs(m) for r, m, e in parts]
    if p.half > 0:
        return all(r >= 0 for r in room)
    ends_fit = (room[0] > 0 or x[0] == 0 == room[0]) and (room[2] > 0 or y[1] == 0 == room[2])
    return ends_fit and room[1] > 0


def _plus_product(total: Sequence[fmpq], f: Sequence[fmpq], g: Sequence[fmpq]) -> list[fmpq]:
    """`total` and the product of two affine functions, in Bernstein coefficients."""
    product = f[0] * g[0], (f[0] * g[1] + f[1] * g[0]) / 2, f[1] * g[1]
    return [a + b for a, b in zip(total, product, strict=True)]


def _row(p: Any, radius: fmpq, proof: Any) -> None:
    """3.4. The row of theorem circular.lower that the file names."""
    k, L = _object(proof, ("k",))["k"], p.L
    _need(type(k) is int and 1 <= k <= L // 2, "names no row of the theorem")
    squared = fmpq((L - 1) ** 2 * k * (L + 1 - 2 * k) ** 2, 4 * (L * L - (2 * L - 1) * k))
    _need(radius * radius <= squared, "bounds more than the theorem does")


def _shapes(p: Any, radius: fmpq, proof: Any) -> None:
    """3.3. All shapes of the arc: flat and steep ones by hand, the others by a tree of boxes."""
    proof, L = _object(proof, ("steepness", "tree")), p.L
    (x, y), (high, finite) = (_ratio(t) for t in _list(proof["steepness"], 2))
    flat = 4 * (radius * x) ** 2 <= (L - 1) ** 2 * (x * x + y * y)
    _need(x > 0 and flat, "leaves flat arcs open")
    reach = max(((i - 1) * (L - 2 * i) for i in range(2, (L + 1) // 2)), default=0)
    _need(y == 0 or (finite != 0 and reach * high >= L * radius), "leaves steep arcs open")
    stack = [((fmpq(0), fmpq(1)), (x / y, high))] if y != 0 and x < high * y else []
    for item in _list(proof["tree"]):
        _need(bool(stack), "has more boxes than its splits make")
        skew, steepness = stack.pop()
        if isinstance(item, list):
            axis, text = _list(item, 2)
            low, high = skew if axis == "skew" else steepness
            at = _rational(text)
            _need(axis in ("skew", "steepness") and low < at < high, "splits a box outside of it")
            halves = (at, high), (low, at)
            stack += [(h, steepness) if axis == "skew" else (skew, h) for h in halves]
        else:
            closed = _shape_box_closed(p, radius, skew, steepness, _weights(p, item))
            _need(closed, "leaves a box of arcs open")
    _need(not stack, "has fewer boxes than its splits make")


def _shape_box_closed(p: Any, radius: fmpq, skew: Any, steepness: Any, weights: Counts) -> bool:
    """Whether N >= radius (max |S| at the corners + sum |n_c| rho_c)."""
    lengths = []
    for s, t in ((s, t) for s in skew for t in steepness):
        points = [_point(p.L, c, s, t) for c in weights]
        x, y = (_dot(weights.values(), [point[i] for point in points]) for i in (0, 1))
        lengths.append((x * x + y * y).upper().sqrt())  # a ball around 0 has no root
    deviations = (abs(n) * _deviation(p.L, c, *skew, *steepness) for c, n in weights.items())
    rest, surplus = sum(deviations, arb(0)), _surplus(p, weights)
    balanced = sum(weights.values(), fmpq(0)) == 0
    return balanced and all(radius * (length + rest) <= surplus for length in lengths)


def _point(L: int, c: int, s: fmpq, t: fmpq) -> tuple[arb, arb]:
    """u(c), on the unit circle, for the arc of skew s and steepness t."""
    x, y = (arb(L - c + c * s), arb(c * s - (L - c)) * t) if c < L else (arb(1), arb(t))
    length = (x * x + y * y).sqrt()
    return x / length, y / length


def _deviation(L: int, c: int, s0: fmpq, s1: fmpq, t0: fmpq, t1: fmpq) -> arb:
    """rho_c: how far u(c) lies at most from what interpolates its values at the corners."""
    bend = arb(0)
    if 0 < c < L:
        x, y = arb(L - c + c * s0), arb(max(c * s0 - (L - c), L - c - c * s1, fmpq(0))) * t0
        bend = 4 * c * c * (L - c) * t1 * arb(1 + t1 * t1).sqrt() / (x * x + y * y).sqrt() ** 3
    return bend * arb(s1 - s0) ** 2 / 8 + arb(t1 - t0) ** 2 / t0 / t1 * fmpq(7, 192)


# 4. Explicit weights of norm <= upper count


def _upper(p: Any, B: fmpq, record: Any) -> None:
    file, readout = _object(record, ("vectors", "b")), "W" if p.classes else "w"
    names = (*VECTORS, "gamma", "beta") if p.affine == "learned" else VECTORS
    given = _object(file["vectors"], (*names, readout))
    rows = _list(given[readout], p.L + 1) if p.classes else [given[readout]]
    todo = [(c, m) for c in range(p.L + 1) for m in {0, 0 if p.norm == "post" else p.L - c}]
    work = max(len(todo) * len(rows), 2 * p.d * (len(names) + len(rows)))
    _need(work <= MAX_WORK, "has too many counts or entries for this checker")
    table, v = [_vector(row, p.d) for row in rows], {x: _vector(given[x], p.d) for x in names}
    shifts = _vector(file["b"] if p.classes else [file["b"]], len(rows))
    short = (sum((e * e for e in x), fmpq(0)) <= B * B for x in (*v.values(), *table))
    _need(p.half > 0 and all(short), "has vectors longer than upper")
    for bits in UPPER_BITS:
        with ctx.workprec(bits):
            margins = _margins(p, {k: [arb(e) for e in x] for k, x in v.items()}, table, shifts)
            while todo:
                found = margins(*todo[-1])
                _need(not any(e <= 0 for e in found), "has weights that do not count")
                if not all(e > 0 for e in found):
                    break
                todo.pop()
    _need(not todo, "has weights that are not proved to count")


def _margins(
    p: Any, v: dict[str, list[arb]], table: list[Any], b: list[Any]
) -> Callable[..., list[arb]]:
    """What is positive at (c, m) if and only if the read-out is right there."""
    (states, masses), rows = _states(p, v), table
    if p.norm == "post":
        states, size = [_centred(p, x) for x in states], arb(p.d).sqrt()
        gains, beta = v.get("gamma", [arb(1)] * p.d), v.get("beta", [arb(0)] * p.d)
        b = [e + _dot(row, beta) for e, row in zip(b, rows, strict=True)]
        rows = [[size * g * e for g, e in zip(gains, row, strict=True)] for row in rows]
        _need(_dot(states[2], states[2]) == 0, "has fillers that move a normalised state")
    gram = [[_dot(x, y) for y in states[:2]] for x in states[:2]]
    alphas = [[_dot(row, x) for x in states] for row in rows]

    def at(c: int, m: int) -> list[arb]:
        if p.norm == "post":
            g = (gram[0][0] + 2 * c * gram[0][1] + c * c * gram[1][1]).sqrt()
        else:
            g = masses[0] + c * masses[1] + m * masses[2]
        z = [e * g + a[0] + c * a[1] + m * a[2] for e, a in zip(b, alphas, strict=True)]  # times g
        if p.classes:
            return [g, *(z[c] - e for j, e in enumerate(z) if j != c)]
        return [g, p.half * g - abs(z[0] - c * g)]

    return at


def _states(p: Any, v: dict[str, list[arb]]) -> tuple[list[list[arb]], list[arb]]:
    """N_j, S_j for j in s, t, f: the state is (N_s + c N_t + m N_f)/(S_s + c S_t + m S_f)."""
    query, tau = _attending(p, v, "q"), arb(p.tau).sqrt()
    scores = [tau * _dot(query, _attending(p, v, f"k_{j}")) for j in "stf"]
    values = [_attending(p, v, f"v_{j}") for j in "stf"]
    if p.linear:
        parts = [[a * e for e in x] for a, x in zip(scores, values, strict=True)]
        first = [e + r for e, r in zip(parts[0], v["r"], strict=True)]
        return [first, *parts[1:]], [arb(1), arb(0), arb(0)]
    masses = [(a - scores[0]).exp() for a in scores]
    sums = [[e + r for e, r in zip(x, v["r"], strict=True)] for x in values]
    return [[u * e for e in x] for u, x in zip(masses, sums, strict=True)], masses


def _attending(p: Any, v: dict[str, list[arb]], name: str) -> list[arb]:
    """q, k_j or v_j as attention sees it."""
    if p.norm != "pre":
        return v[name]
    x = _centred(p, v[name])
    size = (_dot(x, x) / p.d).sqrt()
    if p.affine == "bare":
        return [e / size for e in x]
    return [g * e / size + b for g, e, b in zip(v["gamma"], x, v["beta"], strict=True)]


def _centred(p: Any, x: list[arb]) -> list[arb]:
    mean = _dot([1] * p.d, x) / p.d if p.normalizer == "layer" else 0
    return [e - mean for e in x]


def _dot(x: Iterable[Any], y: Iterable[Any]) -> Any:
    return sum((a * b for a, b in zip(x, y, strict=True)), arb(0))


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as certificate:
        print(check(certificate.read(MAX_BYTES + 1)))
