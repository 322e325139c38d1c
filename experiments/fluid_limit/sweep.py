"""Distance of the simulator of cells, scaled up by m, from the fluid trajectory of flow routing; data only."""

TITLE = "The simulator scaled up converges to the fluid trajectory"
REFERENCE = "DLB paper, sections 2 and 4 (the fluid model); Kurtz (1970) for the limit; the experiment is ours"
SECONDS = {"quick": 35, "full": 900}  # one process

TRIALS = {"quick": 12, "full": 40}
SIZES = {
    "quick": {"pool": [1, 2, 4, 8, 16, 32, 64, 128, 256], "cells": [1, 2, 4, 8, 16, 32]},
    "full": {"pool": [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048], "cells": [1, 2, 4, 8, 16, 32, 64, 128, 256]},
}
DURATION = 32.0
SHOWN = {"sizes": [4, 16, 256], "every": 0.0625}


def cells(scale):
    """One cell a system and trial, and one for the paths of the first trial."""
    shown = [
        ("lbtheory.verify.fluid_limit_tasks:fluid_paths", {"system": "pool", "duration": DURATION, **SHOWN}, 0),
    ]
    return shown + [
        (
            "lbtheory.verify.fluid_limit_tasks:fluid_distances",
            {"system": system, "sizes": sizes, "duration": DURATION},
            trial,
        )
        for system, sizes in SIZES[scale].items()
        for trial in range(TRIALS[scale])
    ]
