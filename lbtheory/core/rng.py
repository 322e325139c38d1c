"""Named random streams that depend on the root seed and their name only.

``SeedSequence(root, spawn_key=hash(names))`` gives independent streams whatever the order in which they are
made and however the work is split over processes.
"""

import hashlib

import numpy as np


def seed_sequence(root: int, *names: str | int) -> np.random.SeedSequence:
    """Seed of the stream called ``names`` under the seed ``root``.

    Parameters
    ----------
    root : int
        Non-negative seed of the run.
    *names : str or int
        What the stream is for, for example ``("prompts",)`` or ``("cell", 3, "outputs")``.
    """
    key = hashlib.blake2b("\x1f".join(map(str, names)).encode(), digest_size=16).digest()
    words = tuple(int.from_bytes(key[i : i + 4], "little") for i in range(0, 16, 4))
    return np.random.SeedSequence(root, spawn_key=words)


def generator(root: int, *names: str | int) -> np.random.Generator:
    """A generator on the stream called ``names`` under the seed ``root``."""
    return np.random.default_rng(seed_sequence(root, *names))
