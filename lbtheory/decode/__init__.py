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
