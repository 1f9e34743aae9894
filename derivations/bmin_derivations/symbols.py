"""The symbols that theorems share, with the assumptions that every step may use."""

import sympy

L = sympy.Symbol("L", integer=True, positive=True)  # greatest length
d = sympy.Symbol("d", integer=True, positive=True)  # model dimension
tau = sympy.Symbol("tau", positive=True)  # score factor
c = sympy.Symbol("c", integer=True, nonnegative=True)  # targets
m = sympy.Symbol("m", integer=True, nonnegative=True)  # fillers
k = sympy.Symbol("k", integer=True, positive=True)  # a count
j = sympy.Symbol("j", integer=True, positive=True)  # half a length: L = 2j or 2j + 1
a = sympy.Symbol("a", positive=True)  # score ratio exp(a_s - a_t)
g = sympy.Symbol("g", positive=True)  # score ratio exp(a_f - a_t)
D = sympy.Symbol("D", positive=True)  # gap <w, v_t - v_s>
E = sympy.Symbol("E", real=True)  # gap <w, v_f - v_s>
A = sympy.Symbol("A", real=True)  # yhat(0, 0)
x = sympy.Symbol("x", positive=True)  # twice a squared norm, or any positive number
B = sympy.Symbol("B", positive=True)  # bound on the norms
s = sympy.Symbol("s", positive=True)  # a small positive amount
spread = sympy.Symbol("s_d", positive=True)  # largest entry of a normalised vector

B_MIN = sympy.Symbol("B_min", nonnegative=True)
D_MIN = sympy.Symbol("D_min", nonnegative=True)
W_MIN = sympy.Symbol("W_min", nonnegative=True)
A_MIN = sympy.Symbol("a_min", nonnegative=True)
L_MAX = sympy.Symbol("L_max", integer=True, nonnegative=True)
STORED = sympy.Symbol("N_stored", integer=True, nonnegative=True)  # numbers in the read-out
CONSTANT = sympy.Symbol("C", nonnegative=True)  # of B_min ~ C L^p
EXPONENT = sympy.Symbol("p", nonnegative=True)
UNKNOWNS = frozenset({B_MIN, D_MIN, W_MIN, A_MIN, L_MAX, STORED, CONSTANT, EXPONENT})

MEANINGS = {
    "L": "greatest length, an integer",
    "d": "model dimension, an integer",
    "tau": "factor of the attention scores",
    "a": "score ratio exp(a_s - a_t)",
    "k": "a count",
    "u": "row of the gap",
    "u_row": "row of the gap",
    "e": "epsilon of the normaliser",
    "s_d": "largest entry of a normalised vector, sqrt(d-1) for layer, sqrt(d) for rms",
    "B_min": "least bound on all norms",
    "D_min": "least gap <w, v_t - v_s>",
    "W_min": "least radius of a circular read-out",
    "a_min": "least score ratio",
    "L_max": "largest length",
    "N_stored": "numbers in the read-out",
    "C": "constant of B_min ~ C L^p",
    "p": "exponent of B_min ~ C L^p",
}
LATEX_NAMES = {
    "B_min": r"B_{\min}",
    "D_min": r"D_{\min}",
    "W_min": r"W_{\min}",
    "a_min": r"a_{\min}",
    "L_max": r"L_{\max}",
    "N_stored": r"N_{\mathrm{stored}}",
    "u_row": "u",
}
