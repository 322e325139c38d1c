"""Traces: readers by format, filters, laws, synthetic workloads, releases and the prefill pool.

Symbols
-------
=========  =====================================================================================
``S_i``    prompt size of request ``i``, tokens (``prompts``)
``O_i``    output length, tokens (``outputs``)
``p``      completion probability of a step: ``O ~ Geometric(p)``
``G, B``   workers and slots a worker
=========  =====================================================================================
"""

from lbtheory.decode.traces._format import Format as Format
from lbtheory.decode.traces.base import Note as Note
from lbtheory.decode.traces.base import Problem as Problem
from lbtheory.decode.traces.base import Trace as Trace
from lbtheory.decode.traces.base import make_trace as make_trace
from lbtheory.decode.traces.columns import TIME_UNITS as TIME_UNITS
from lbtheory.decode.traces.columns import parse_columns as parse_columns
from lbtheory.decode.traces.describe import SizeSummary as SizeSummary
from lbtheory.decode.traces.describe import TraceDescription as TraceDescription
from lbtheory.decode.traces.describe import describe as describe
from lbtheory.decode.traces.describe import summarise as summarise
from lbtheory.decode.traces.detect import FORMATS as FORMATS
from lbtheory.decode.traces.detect import detect as detect
from lbtheory.decode.traces.detect import find_format as find_format
from lbtheory.decode.traces.detect import read_trace as read_trace
from lbtheory.decode.traces.filters import cap_prompts as cap_prompts
from lbtheory.decode.traces.filters import first as first
from lbtheory.decode.traces.filters import outputs_above as outputs_above
from lbtheory.decode.traces.filters import scale_rate as scale_rate
from lbtheory.decode.traces.filters import time_slice as time_slice
from lbtheory.decode.traces.laws import Constant as Constant
from lbtheory.decode.traces.laws import Empirical as Empirical
from lbtheory.decode.traces.laws import Geometric as Geometric
from lbtheory.decode.traces.laws import Law as Law
from lbtheory.decode.traces.laws import Lognormal as Lognormal
from lbtheory.decode.traces.laws import Table as Table
from lbtheory.decode.traces.laws import Uniform as Uniform
from lbtheory.decode.traces.laws import parse_law as parse_law
from lbtheory.decode.traces.laws import probability as probability
from lbtheory.decode.traces.laws import rational_probability as rational_probability
from lbtheory.decode.traces.prefill import PrefillResult as PrefillResult
from lbtheory.decode.traces.prefill import prefill_pool as prefill_pool
from lbtheory.decode.traces.releases import Releases as Releases
from lbtheory.decode.traces.releases import at_iterations as at_iterations
from lbtheory.decode.traces.releases import at_times as at_times
from lbtheory.decode.traces.releases import batched as batched
from lbtheory.decode.traces.releases import bursts as bursts
from lbtheory.decode.traces.releases import poisson_clock as poisson_clock
from lbtheory.decode.traces.releases import poisson_iterations as poisson_iterations
from lbtheory.decode.traces.releases import saturated as saturated
from lbtheory.decode.traces.releases import size_paced as size_paced
from lbtheory.decode.traces.shares import GeometricMixture as GeometricMixture
from lbtheory.decode.traces.shares import draw_classes as draw_classes
from lbtheory.decode.traces.shares import parse_hazards as parse_hazards
from lbtheory.decode.traces.shares import parse_tenants as parse_tenants
from lbtheory.decode.traces.synthetic import SYNTHETIC as SYNTHETIC
from lbtheory.decode.traces.synthetic import bivariate_normal as bivariate_normal
from lbtheory.decode.traces.synthetic import residual_start as residual_start
from lbtheory.decode.traces.synthetic import synthetic as synthetic
