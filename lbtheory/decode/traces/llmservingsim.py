"""LLMServingSim: JSON lines ``{"input_toks", "output_toks", "arrival_time_ns", "input_tok_ids"?, "output_tok_ids"?}``.

Token ids, where present, must be as many as the stated sizes; the prompt key stands for the whole list of input ids. Without
``arrival_time_ns`` the trace has lengths only. Agentic records (``sub_requests``) have no arrival of their own and are refused.
"""

from typing import Any

from lbtheory.decode.traces._collect import Collector, Options, Row, list_key
from lbtheory.decode.traces._format import Format
from lbtheory.decode.traces._parse import json_size, time_ns
from lbtheory.decode.traces._source import BadRow, Source
from lbtheory.decode.traces._tables import json_rows, missing

_NEEDED = ("input_toks", "output_toks")


def _read(source: Source, collector: Collector, options: Options) -> None:
    def convert(line: int, record: dict[str, Any]) -> Row:
        if "sub_requests" in record:
            raise BadRow(
                "agentic sessions (sub_requests) have no arrival times before they are simulated.",
                "Write one flat record a request.",
            )
        if lacks := missing(_NEEDED, list(record)):
            raise BadRow(f"the record lacks {lacks}.", "Add the key or remove the line.")
        sizes = [json_size(name, record) for name in _NEEDED]
        digests = []
        for ids_name, name, stated in zip(("input_tok_ids", "output_tok_ids"), _NEEDED, sizes, strict=True):
            ids = record.get(ids_name)
            digests.append(None if ids is None else list_key(ids_name, ids))
            if ids is not None and len(ids) != stated:
                raise BadRow(
                    f"{ids_name} has {len(ids)} entries but {name} is {stated}.",
                    "Correct the line: they contradict each other.",
                )
        arrived = record.get("arrival_time_ns")
        return sizes[0], sizes[1], None if arrived is None else time_ns("arrival_time_ns", arrived, "ns"), digests[0]

    collector.run(json_rows(source, collector, ()), convert)


FORMAT = Format(name="llmservingsim", title="LLMServingSim (JSON lines)", layout="jsonl", needed=_NEEDED, read=_read)
