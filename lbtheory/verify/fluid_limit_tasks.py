"""Tasks of the experiment on the fluid limit of the simulator of cells. Each returns a list of flat records."""

import numpy as np

from lbtheory.verify.flow_tasks import Record
from lbtheory.verify.fluid_limit import distances, fluid_path, run_at, scaled_system, workloads_at


def fluid_distances(*, seed: int, system: str, sizes: list[int], duration: float) -> list[Record]:
    """Distances to the fluid trajectory, one record a size ``m``; ``seed`` is the trial.

    Returns
    -------
    list of dict
        ``greatest`` and ``rms`` of the workload over ``m`` less the fluid one, per decode slot; ``error`` of the integration.
    """
    built = scaled_system(system, duration)
    fluid = fluid_path(built)
    records = []
    for m in sizes:
        greatest, rms = distances(built, fluid, run_at(built, m, seed), m)
        records.append({"system": system, "size": m, "greatest": greatest, "rms": rms, "error": fluid.error_estimate})
    return records


def fluid_paths(*, seed: int, system: str, sizes: list[int], duration: float, every: float) -> list[Record]:
    """Workloads of the first cell per decode slot every so many seconds, at some sizes and in the limit (size 0)."""
    built = scaled_system(system, duration)
    fluid = fluid_path(built)
    times = np.arange(0.0, duration + every / 2, every)
    paths = {0: fluid.workloads_at(times)[:, 0]}
    paths |= {m: workloads_at(run_at(built, m, seed), times)[:, 0] / m for m in sizes}
    return [
        {"system": system, "size": m, "time": float(t), "load": float(n / built.slots[0])}
        for m, path in paths.items()
        for t, n in zip(times, path, strict=True)
    ]
