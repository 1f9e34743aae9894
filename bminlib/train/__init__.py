"""Training the layer from scratch: how near learned norms come to B_min.

`forward`, `losses`, `updates` and `descent` import jax and optax; everything else works without
them, and `batch.train` loads them when something is trained.
"""
