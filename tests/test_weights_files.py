"""Weights go into files and come back unchanged; anything else is refused with one sentence."""

import io
import json
import os
import struct
import zipfile
from fractions import Fraction

import numpy as np
import pytest
from safetensors.numpy import save

from bminlib import CountingProblem, DomainError
from bminlib.files import MAX_BYTES, load_weights, save_weights
from bminlib.weights import Weights, vector_names, vector_shape

SUFFIXES = (".json", ".npz", ".safetensors")
PROBLEMS = (
    CountingProblem(L=3, d=2),
    CountingProblem(L=10**30, norm="post", affine="learned", d=3, tau="sqrt(3/25)"),
    CountingProblem(L=4, norm="pre", normalizer="rms", d=5, tau=Fraction(2, 7)),
    CountingProblem(L=4, attention="linear", norm="post", d=3, tau="unscaled"),
    CountingProblem(L=4, norm="post", readout="classification", d=4, tau="1/sqrt(5)"),
)


def weights(problem, *, exact=False, seed=0, ln_eps=Fraction(0)):
    rng = np.random.default_rng(seed)
    arrays = {n: rng.normal(size=vector_shape(problem, n)) for n in (*vector_names(problem), "b")}
    if exact:
        arrays = {n: np.vectorize(third, otypes=[object])(x) for n, x in arrays.items()}
    return Weights(problem, arrays, arrays.pop("b"), ln_eps)


def third(number):
    return Fraction(number) / 3


def same(left, right):
    ours, theirs = left.arrays(), right.arrays()
    return (
        list(ours) == list(theirs)
        and left.ln_eps == right.ln_eps
        and all(ours[n].dtype == theirs[n].dtype for n in ours)
        and all(np.array_equal(ours[n], theirs[n]) for n in ours)
    )


def refusal(path):
    with pytest.raises(DomainError) as caught:
        load_weights(path)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 500
    return text


@pytest.fixture
def record(tmp_path):
    """The JSON record of some weights, to be spoilt."""
    save_weights(weights(PROBLEMS[0]), tmp_path / "good.json")
    return json.loads((tmp_path / "good.json").read_text())


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_file_gives_back_the_same_weights(problem, suffix, tmp_path):
    ln_eps = Fraction("1e-5") if problem.norm == "post" else Fraction(0)
    for exact in (False, True) if suffix == ".json" else (False,):
        before = weights(problem, exact=exact, ln_eps=ln_eps)
        save_weights(before, tmp_path / f"w{suffix}")
        after = load_weights(tmp_path / f"w{suffix}")
        assert same(before, after)
        assert after.is_exact == exact
        assert after.problem.score_scale == problem.score_scale
        for name in ("L", "d", "attention", "norm", "affine", "normalizer", "readout"):
            assert getattr(after.problem, name) == getattr(problem, name)


def test_a_float_in_json_is_the_double_and_a_string_is_the_fraction(record, tmp_path):
    record["vectors"]["q"] = ["1/10", 0.1]
    (tmp_path / "w.json").write_text(json.dumps(record))
    q = load_weights(tmp_path / "w.json").vectors["q"]
    assert list(q) == [Fraction(1, 10), Fraction(3602879701896397, 2**55)]


def test_plain_numpy_reads_the_npz(tmp_path):
    before = weights(PROBLEMS[1])
    save_weights(before, tmp_path / "w.npz")
    with np.load(tmp_path / "w.npz", allow_pickle=False) as file:
        assert np.array_equal(file["gamma"], before.vectors["gamma"])
        assert json.loads(file["problem"].item())["problem"]["L"] == str(10**30)


def test_binary_files_refuse_what_53_bits_cannot_hold(tmp_path):
    for suffix in (".npz", ".safetensors"):
        with pytest.raises(DomainError, match="53 bits"):
            save_weights(weights(PROBLEMS[0], exact=True), tmp_path / f"w{suffix}")
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("dtype", "name"), [("<f4", "F32"), ("<f2", "F16"), (None, "BF16")], ids=str
)
def test_narrow_safetensors_are_read_exactly(dtype, name, tmp_path):
    save_weights(weights(PROBLEMS[0]), tmp_path / "w.safetensors")
    data = (tmp_path / "w.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    text = header.pop("__metadata__")
    body, start = b"", 0
    for tensor in header.values():
        numbers = np.arange(np.prod(tensor["shape"], dtype=int)) - 0.375
        wide = numbers.astype("<f4").view("<u4")
        part = numbers.astype(dtype).tobytes() if dtype else (wide >> 16).astype("<u2").tobytes()
        tensor |= {"dtype": name, "data_offsets": [start, start + len(part)]}
        body, start = body + part, start + len(part)
    front = json.dumps({"__metadata__": text, **header}).encode()
    (tmp_path / "w.safetensors").write_bytes(struct.pack("<Q", len(front)) + front + body)
    loaded = load_weights(tmp_path / "w.safetensors")
    assert loaded.vectors["q"].tolist() == [-0.375, 0.625]
    assert loaded.b == -0.375


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "w.json"
    target.write_text("what was there")

    def fail(_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(DomainError, match="no space left"):
            save_weights(weights(PROBLEMS[0]), target)
    assert [p.name for p in tmp_path.iterdir()] == ["w.json"]
    assert target.read_text() == "what was there"
    save_weights(weights(PROBLEMS[0]), target)
    assert same(load_weights(target), weights(PROBLEMS[0]))
    assert [p.name for p in tmp_path.iterdir()] == ["w.json"]


def test_places_that_cannot_hold_a_file(tmp_path):
    for path in (tmp_path / "no" / "w.json", tmp_path / "w.pickle", tmp_path / "w"):
        with pytest.raises(DomainError):
            save_weights(weights(PROBLEMS[0]), path)
    (tmp_path / "d.json").mkdir()
    with pytest.raises(DomainError, match="regular"):
        save_weights(weights(PROBLEMS[0]), tmp_path / "d.json")
    assert "no such file" in refusal(tmp_path / "absent.json")
    refusal(tmp_path / "d.json")
    refusal(tmp_path / "w.pt")


SPOILT_RECORDS = {
    "kind": lambda r: r | {"kind": "other"},
    "version": lambda r: r | {"version": 2},
    "'extra'": lambda r: r | {"extra": 1},
    "vectors": lambda r: r | {"vectors": [1, 2]},
    "b is missing": lambda r: {k: v for k, v in r.items() if k != "b"},
    "q missing": lambda r: r | {"vectors": {k: v for k, v in r["vectors"].items() if k != "q"}},
    "'x' unknown": lambda r: r | {"vectors": r["vectors"] | {"x": [0.0, 0.0]}},
    "shape": lambda r: r | {"vectors": r["vectors"] | {"q": [0.0]}},
    "True": lambda r: r | {"vectors": r["vectors"] | {"q": [True, 0.0]}},
    "None": lambda r: r | {"vectors": r["vectors"] | {"q": [None, 0.0]}},
    "'1/0'": lambda r: r | {"vectors": r["vectors"] | {"q": ["1/0", 0.0]}},
    "'0x1p3'": lambda r: r | {"vectors": r["vectors"] | {"q": ["0x1p3", 0.0]}},
    "deep": lambda r: r | {"b": [[[[0.0]]]]},
    "'d'": lambda r: r | {"problem": {k: v for k, v in r["problem"].items() if k != "d"}},
    "tau": lambda r: r | {"problem": r["problem"] | {"tau": 0.5}},
    "L='x'": lambda r: r | {"problem": r["problem"] | {"L": "x"}},
    "norm": lambda r: r | {"problem": r["problem"] | {"norm": ["none"]}},
    "d=True": lambda r: r | {"problem": r["problem"] | {"d": True}},
    "ln_eps": lambda r: r | {"ln_eps": "-1"},
    "affine": lambda r: r | {"problem": r["problem"] | {"affine": "learned"}},
}


@pytest.mark.parametrize("words", SPOILT_RECORDS)
def test_spoilt_json_records(words, record, tmp_path):
    (tmp_path / "w.json").write_text(json.dumps(SPOILT_RECORDS[words](record)))
    message = refusal(tmp_path / "w.json")
    assert words == "deep" or words in message


SPOILT_TEXTS = {
    "not JSON": "{",
    "NaN": '{"b": NaN}',
    "-Infinity": '{"b": -Infinity}',
    "twice": '{"b": 1, "b": 2}',
    "deeply": "[" * 200_000,
    "digits": '{"b": ' + "9" * 30_000 + "}",
    "object": "[1]",
}


@pytest.mark.parametrize("words", SPOILT_TEXTS)
def test_spoilt_json_texts(words, tmp_path):
    (tmp_path / "w.json").write_text(SPOILT_TEXTS[words])
    assert words in refusal(tmp_path / "w.json")


def test_an_infinite_decimal_and_bytes_that_are_no_text(record, tmp_path):
    text = json.dumps(record | {"b": 7.25}).replace("7.25", "1e999")
    (tmp_path / "w.json").write_text(text)
    assert "inf" in refusal(tmp_path / "w.json")
    (tmp_path / "w.json").write_bytes(b"\xff\xfe\xfd" * 5)
    refusal(tmp_path / "w.json")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_truncation_is_refused(suffix, tmp_path):
    path = tmp_path / f"w{suffix}"
    save_weights(weights(PROBLEMS[0]), path)
    data = path.read_bytes()
    for size in {0, 1, 7, 8, 9, *range(10, len(data) - 2, len(data) // 40), len(data) - 2}:
        path.write_bytes(data[:size])
        refusal(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_flipped_bytes_never_give_a_traceback(suffix, tmp_path):
    path = tmp_path / f"w{suffix}"
    save_weights(weights(PROBLEMS[0]), path)
    good = path.read_bytes()
    rng = np.random.default_rng(1)
    for place in rng.integers(0, len(good), 150):
        data = bytearray(good)
        data[place] = rng.integers(0, 256)
        path.write_bytes(data)
        assert isinstance(loaded(path), Weights | DomainError)


def loaded(path):
    """The weights in a file, or why there are none; any other error is not caught."""
    try:
        return load_weights(path)
    except DomainError as error:
        return error


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_huge_file_is_refused_unread(suffix, tmp_path):
    path = tmp_path / f"w{suffix}"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES[suffix] + 1)
    assert "MiB" in refusal(path)


def spoil_npz(path, name, data):
    """Replace one member of a good .npz file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            new.writestr(member, data if member == name else old.read(member))
        if name not in old.namelist():
            new.writestr(name, data)
    path.write_bytes(buffer.getvalue())


def npy(array, **options):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **options)
    return buffer.getvalue()


LYING = npy(np.zeros(2)).replace(b"(2,)", b"(9999999999999,)")
SPOILT_MEMBERS = {
    "pickle": ("q.npy", npy(np.array([{}, []], dtype=object))),
    "lying shape": ("q.npy", LYING.replace(b" " * 13 + b"\n", b"\n")),
    "integers": ("q.npy", npy(np.arange(2))),
    "complex": ("q.npy", npy(np.array([1j, 0]))),
    "not finite": ("q.npy", npy(np.array([np.nan, 0]))),
    "short": ("q.npy", npy(np.zeros(2))[:-3]),
    "no npy": ("q.npy", b"hello"),
    "empty": ("q.npy", b""),
    "extra": ("x.npy", npy(np.zeros(2))),
    "escape": ("../q.npy", npy(np.zeros(2))),
    "problem": ("problem.npy", npy(np.array("{}"))),
    "problem as numbers": ("problem.npy", npy(np.zeros(2))),
}


@pytest.mark.parametrize("what", SPOILT_MEMBERS)
def test_spoilt_npz_members(what, tmp_path):
    path = tmp_path / "w.npz"
    save_weights(weights(PROBLEMS[0]), path)
    spoil_npz(path, *SPOILT_MEMBERS[what])
    refusal(path)


def test_a_zip_that_unpacks_to_more_than_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "w.npz"
    save_weights(weights(PROBLEMS[0]), path)
    spoil_npz(path, "x.npy", bytes(1 << 22))
    assert path.stat().st_size < 1 << 14
    assert "'x' unknown" in refusal(path)
    monkeypatch.setitem(MAX_BYTES, ".npz", 1 << 22)
    assert "unpacks to over 4 MiB" in refusal(path)


def test_column_major_npz_members(tmp_path):
    before = weights(PROBLEMS[4])
    save_weights(before, tmp_path / "w.npz")
    spoil_npz(tmp_path / "w.npz", "W.npy", npy(np.asfortranarray(before.vectors["W"])))
    assert same(before, load_weights(tmp_path / "w.npz"))


HEADER = b'{"q":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}'
SPOILT_SAFETENSORS = {
    "no metadata": save({"q": np.zeros(2)}),
    "metadata": save({"q": np.zeros(2)}, {"problem": "[1]"}),
    "huge header": struct.pack("<Q", 2**63) + b"{}",
    "twice": struct.pack("<Q", 2 * len(HEADER) + 1) + HEADER + b"," + HEADER[1:] + b"}" + bytes(8),
    "deep": struct.pack("<Q", 100_000) + b"[" * 100_000,
}


@pytest.mark.parametrize("what", SPOILT_SAFETENSORS)
def test_spoilt_safetensors(what, tmp_path):
    (tmp_path / "w.safetensors").write_bytes(SPOILT_SAFETENSORS[what])
    message = refusal(tmp_path / "w.safetensors")
    assert what != "twice" or "twice" in message


VECTORS = {n: [0.0, 0.5] for n in vector_names(PROBLEMS[0])}
BAD_VECTORS = {
    "q missing": {k: v for k, v in VECTORS.items() if k != "q"},
    "'gamma' unknown": VECTORS | {"gamma": [0.0, 0.0]},
    "shape is (3,)": VECTORS | {"q": [0.0, 0.0, 0.0]},
    "shape is ()": VECTORS | {"q": 1.0},
    "entry nan": VECTORS | {"q": np.array([np.nan, 0])},
    "entry inf": VECTORS | {"q": [Fraction(1), float("inf")]},
    "entry True": VECTORS | {"q": [True, 0.0]},
    "of type bool": VECTORS | {"q": np.array([True, False])},
    "entry 'a'": VECTORS | {"q": ["a", 0.0]},
    "entry 1j": VECTORS | {"q": [1j, 0.0]},
    "entry [1]": VECTORS | {"q": [[1], [1, 2]]},
    "longdouble": VECTORS | {"q": np.zeros(2, np.longdouble)},
    "must map": [1, 2],
}


@pytest.mark.parametrize("words", BAD_VECTORS)
def test_vectors_are_checked(words):
    with pytest.raises(DomainError) as caught:
        Weights(PROBLEMS[0], BAD_VECTORS[words], 0)
    assert words in str(caught.value)


@pytest.mark.parametrize("ln_eps", [-1, 1e-5, True, "1e-5", None, Fraction(-1, 3), 1])
def test_ln_eps_is_exact_and_has_a_normaliser(ln_eps):
    with pytest.raises(DomainError, match="ln_eps"):
        Weights(PROBLEMS[0], VECTORS, 0, ln_eps)


def test_vectors_are_copied_and_read_only():
    q = np.zeros(2)
    made = Weights(PROBLEMS[0], VECTORS | {"q": q}, 0)
    q[0] = 1
    assert made.vectors["q"][0] == 0
    with pytest.raises(ValueError, match="read-only"):
        made.vectors["q"][0] = 1
    with pytest.raises(TypeError):
        made.vectors["q"] = q


def test_one_fraction_makes_every_entry_exact():
    made = Weights(PROBLEMS[0], VECTORS | {"q": [2**53 + 1, 0.1]}, 1)
    assert made.is_exact
    assert all(isinstance(x, Fraction) for array in made.arrays().values() for x in array.flat)
    assert list(made.vectors["q"]) == [2**53 + 1, Fraction(0.1)]
    assert not Weights(PROBLEMS[0], VECTORS | {"q": np.arange(2)}, 1).is_exact


def test_norms_are_euclidean_and_a_matrix_counts_by_its_longest_row():
    problem = CountingProblem(L=1, d=2, readout="classification")
    vectors = {n: np.zeros(vector_shape(problem, n)) for n in vector_names(problem)}
    vectors |= {"q": np.array([3.0, 4.0]), "W": np.array([[0.0, 1.0], [5.0, 12.0]])}
    made = Weights(problem, vectors, np.zeros(2))
    norms = made.norms()
    assert (norms["q"], norms["W"], norms["r"], made.largest_norm()) == (5, 13, 0, 13)


@pytest.mark.parametrize("suffix", [".json", ".npz", ".safetensors"])
def test_a_pipe_is_refused_without_waiting_for_its_writer(tmp_path, suffix):
    path = tmp_path / f"pipe{suffix}"
    os.mkfifo(path)
    with pytest.raises(DomainError, match="no regular file"):
        load_weights(path)
