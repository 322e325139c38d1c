"""Mooncake: JSON lines ``{"timestamp" (ms), "input_length", "output_length", "hash_ids"}``.

``hash_ids`` names the blocks of 512 tokens of the prompt, so it must have ``ceil(input_length / 512)`` entries; the prompt
key of a request stands for its whole list. Ids of any size are compared whole.
"""

from typing import Any

from lbtheory.decode.traces._collect import Collector, Options, Row, list_key
from lbtheory.decode.traces._format import Format
from lbtheory.decode.traces._parse import json_size, time_ns
from lbtheory.decode.traces._source import BadRow, Source
from lbtheory.decode.traces._tables import json_rows

BLOCK = 512
"""Tokens a block."""

_NEEDED = ("timestamp", "input_length", "output_length")


def _read(source: Source, collector: Collector, options: Options) -> None:
    def convert(line: int, record: dict[str, Any]) -> Row:
        prompt, output = json_size("input_length", record), json_size("output_length", record)
        key = None
        if (ids := record.get("hash_ids")) is not None:
            key = list_key("hash_ids", ids)
            blocks = -(-prompt // BLOCK)
            if len(ids) != blocks:
                raise BadRow(
                    f"hash_ids has {len(ids)} blocks but input_length {prompt} needs {blocks} of {BLOCK} tokens.",
                    "Correct the line: the prompt length and its hash list contradict each other.",
                )
        return prompt, output, time_ns("timestamp", record["timestamp"], "ms"), key

    collector.run(json_rows(source, collector, _NEEDED), convert)


FORMAT = Format(name="mooncake", title="Mooncake (JSON lines)", layout="jsonl", needed=_NEEDED, read=_read)
