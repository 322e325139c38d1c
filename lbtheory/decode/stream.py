"""A stream of requests: what every policy of a comparison is given, drawn before any of them runs."""

from dataclasses import dataclass

import numpy as np

from lbtheory.core import EmptyTraceError, ParameterError, SizeOverflowError, generator, readonly, whole_number
from lbtheory.decode.instance import TOTAL_LIMIT
from lbtheory.decode.traces.releases import Releases

OUTPUT_LIMIT = 2**24


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestStream:
    """Requests in release order.

    Attributes
    ----------
    prompts, outputs : int array (n,)
        ``S_i ≥ 1`` tokens (visible) and ``O_i ≥ 1`` iterations (hidden).
    releases : Releases
        When requests join the queue.
    keys : int array (n,) or None
        Prompt keys, for predictors that know recurring prompts.
    weights : int array (n,) or None
        Weights of the tenants that the requests belong to, for rules that care who waits.
    tenants : int array (n,) or None
        Number of each request's tenant, from 0, for results by tenant.
    seed : int
        Seed of the routing coins, three a request; they do not depend on the policy.
    refused : int
        Requests that were refused before release (for example for their size).
    """

    prompts: np.ndarray
    outputs: np.ndarray
    releases: Releases
    keys: np.ndarray | None
    weights: np.ndarray | None
    seed: int
    refused: int
    tenants: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.prompts)

    def coins(self) -> np.ndarray:
        """Uniform draws in [0, 1), (n, 3)."""
        return generator(self.seed, "coins").random((len(self), 3))


def request_stream(
    prompts: np.ndarray,
    outputs: np.ndarray,
    releases: Releases,
    *,
    keys: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    tenants: np.ndarray | None = None,
    seed: int = 0,
    refused: int = 0,
) -> RequestStream:
    """Check and freeze a stream.

    Raises
    ------
    EmptyTraceError, ParameterError, SizeOverflowError
    """
    whole_number("seed", "request_stream", seed, 0)
    s, o = _whole("prompts", prompts), _whole("outputs", outputs)
    if len(s) == 0:
        raise EmptyTraceError("`prompts` of `request_stream` must hold at least one request; got none. Loosen the filters.")
    if len(o) != len(s):
        raise ParameterError(f"`outputs` must have as many entries as `prompts` ({len(s)}); got {len(o)}.")
    if keys is not None and len(keys) != len(s):
        raise ParameterError(f"`keys` must have one key a request ({len(s)}); got {len(keys)}.")
    if weights is not None:
        weights = _whole("weights", weights)
        if len(weights) != len(s):
            raise ParameterError(f"`weights` must have one weight a request ({len(s)}); got {len(weights)}.")
    if tenants is not None:
        tenants = _whole("tenants", tenants, least=0)
        if len(tenants) != len(s):
            raise ParameterError(f"`tenants` must have one number a request ({len(s)}); got {len(tenants)}.")
    if releases.times is not None and len(releases.times) != len(s):
        raise ParameterError(f"`releases` must have one time a request ({len(s)}); got {len(releases.times)}.")
    if int(s.max()) + int(o.max()) >= TOTAL_LIMIT // 2**12:
        raise SizeOverflowError(
            f"prompts and outputs must stay below {TOTAL_LIMIT // 2**12} tokens together so that loads are exact; got "
            f"{int(s.max())} + {int(o.max())}. Scale the sizes down."
        )
    if int(o.max()) > OUTPUT_LIMIT:
        raise SizeOverflowError(
            f"outputs must be at most {OUTPUT_LIMIT} tokens (the calendar of departures is as long as the longest); got "
            f"{int(o.max())} at index {int(o.argmax())}. Remove the request or scale the sizes down."
        )
    return RequestStream(
        prompts=readonly(s),
        outputs=readonly(o),
        releases=releases,
        keys=None if keys is None else readonly(keys),
        weights=None if weights is None else readonly(weights),
        seed=seed,
        refused=refused,
        tenants=None if tenants is None else readonly(tenants),
    )


def _whole(name: str, values: np.ndarray, least: int = 1) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ParameterError(f"`{name}` must be one-dimensional; got shape {array.shape}.")
    if array.size and not np.issubdtype(array.dtype, np.integer):
        if array.dtype.kind != "f":
            raise ParameterError(f"`{name}` must hold whole numbers; got values of type {array.dtype}.")
        whole = np.isfinite(array) & (array == np.floor(array)) & (abs(array) < TOTAL_LIMIT)
        if not whole.all():
            bad = int(np.argmin(whole))
            raise ParameterError(f"`{name}` must hold whole numbers; got {array[bad]} at index {bad}.")
    array = array.astype(np.int64)
    if array.size and array.min() < least:
        bad = int(array.argmin())
        raise ParameterError(f"`{name}` must be ≥ {least}; got {array[bad]} at index {bad}.")
    return array
