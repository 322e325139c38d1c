"""``wlc``: weighted least connections on counts that the root keeps itself: its requests without an answer, per replica.

With one root and no latency it sees everything and is ``disc-rif`` with current state (tested).
"""

from lbtheory.cells.policies.base import Policy

POLICIES = (Policy(name="wlc", mechanism="least-connections", about="least open requests of this root per replica"),)
