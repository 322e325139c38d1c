"""Vidur processed traces: ``num_prefill_tokens,num_decode_tokens``, with or without ``arrived_at`` (seconds).

Without ``arrived_at`` the trace has lengths only. ``num_total_tokens``, where present, must be the sum; ``pd_ratio`` is not
used.
"""

from lbtheory.decode.traces._collect import Collector, Options, Row
from lbtheory.decode.traces._format import Format
from lbtheory.decode.traces._parse import size, time_ns
from lbtheory.decode.traces._source import Source
from lbtheory.decode.traces._tables import check_total, csv_rows

_NEEDED = ("num_prefill_tokens", "num_decode_tokens")


def _read(source: Source, collector: Collector, options: Options) -> None:
    def convert(line: int, values: list[str | None]) -> Row:
        prefill, decode, arrived, total = values
        prompt, output = size("num_prefill_tokens", prefill), size("num_decode_tokens", decode)
        check_total(total, "num_total_tokens", prompt, output)
        return prompt, output, None if arrived is None else time_ns("arrived_at", arrived, "s"), None

    collector.run(csv_rows(source, collector, _NEEDED, ("arrived_at", "num_total_tokens")), convert)


FORMAT = Format(name="vidur", title="Vidur processed trace (CSV)", layout="csv", needed=_NEEDED, read=_read)
