"""Barrier-synchronised decode workers: the model, its policies and its two engines.

Symbols
-------
=========  =====================================================================================
``G``      workers (``workers``)
``B``      slots a worker (``slots``)
``S_i``    prompt size of request ``i``, tokens (``prompts``)
``O_i``    output length, iterations (``outputs``)
``x_i``    admission iteration
``c_g``    free slots of worker ``g``
``a_g``    load of the survivors on worker ``g``; ``L_g`` the load after admission
``I``      aggregate imbalance ``G max_g L_g − Σ_g L_g``
``U``      admissions of an iteration, ``min(waiting, Σ_g c_g)``
``H, γ``   look-ahead window and its discount
``D``      overtaking cap: at most ``D`` later requests may be admitted before a request
=========  =====================================================================================
"""

from lbtheory.decode.comparison import Comparison as Comparison
from lbtheory.decode.comparison import compare as compare
from lbtheory.decode.engine import simulate as simulate
from lbtheory.decode.instance import Assignment as Assignment
from lbtheory.decode.instance import DecodeInstance as DecodeInstance
from lbtheory.decode.instance import decode_instance as decode_instance
from lbtheory.decode.instance import imbalance as imbalance
from lbtheory.decode.instance import objective as objective
from lbtheory.decode.instance import read_instance as read_instance
from lbtheory.decode.policies import InformationSet as InformationSet
from lbtheory.decode.policies import Policy as Policy
from lbtheory.decode.policies import View as View
from lbtheory.decode.policies import known_policies as known_policies
from lbtheory.decode.policies import make_policy as make_policy
from lbtheory.decode.records import Run as Run
from lbtheory.decode.stream import RequestStream as RequestStream
from lbtheory.decode.stream import request_stream as request_stream
from lbtheory.decode.summary import Summary as Summary
from lbtheory.decode.summary import summarise as summarise
from lbtheory.decode.timing import StepTime as StepTime
from lbtheory.decode.workload import Source as Source
from lbtheory.decode.workload import make_workload as make_workload
