"""What a predictor gets to know of a run: the stream's visible columns, and what has finished or is running by an iteration."""

import numpy as np

from lbtheory.decode.policies.base import ForecastNeed
from lbtheory.decode.predictors import History, Predictor, Requests
from lbtheory.decode.predictors.base import check_hazard
from lbtheory.decode.stream import RequestStream


def known_requests(stream: RequestStream, predictor: Predictor) -> Requests:
    """Prompts and keys of a stream; output lengths only for predictors that are references."""
    return Requests(prompts=stream.prompts, keys=stream.keys, outputs=stream.outputs if predictor.oracle else None)


def known_at(stream: RequestStream, admitted: np.ndarray, k: int) -> History:
    """Requests that have left by the start of iteration ``k``, in order of completion (ties: release), and those running.

    Parameters
    ----------
    stream : RequestStream
    admitted : int array (n,)
        Admission iterations so far, 0 for none.
    k : int
    """
    leaves = np.where(admitted > 0, admitted + stream.outputs, np.iinfo(np.int64).max)
    gone = np.flatnonzero(leaves <= k)
    gone = gone[np.argsort(leaves[gone], kind="stable")]
    running = np.flatnonzero((admitted > 0) & (leaves > k))
    return History(
        prompts=stream.prompts[gone],
        outputs=stream.outputs[gone],
        keys=None if stream.keys is None else stream.keys[gone],
        running_ages=k - admitted[running],
        running_prompts=stream.prompts[running],
        running_keys=None if stream.keys is None else stream.keys[running],
    )


def check_hazard_run(stream: RequestStream, need: ForecastNeed, slots: int) -> None:
    """Refuse runs whose expected loads could overflow; see `lbtheory.decode.predictors.base.check_hazard`."""
    check_hazard(slots * (int(stream.prompts.max()) + int(stream.outputs.max()) + need.horizon))
