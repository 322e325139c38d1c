"""BurstGPT: ``Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type``, times in seconds.

Failed requests have zero response tokens: refused, or dropped and counted with ``zero_outputs="drop"``. The releases with
``Session ID`` and ``Elapsed time`` are read alike; those columns are not used.
"""

from lbtheory.decode.traces._collect import Collector, Options, Row
from lbtheory.decode.traces._format import Format
from lbtheory.decode.traces._parse import size, time_ns
from lbtheory.decode.traces._source import Source
from lbtheory.decode.traces._tables import check_total, csv_rows

_NEEDED = ("Timestamp", "Request tokens", "Response tokens")


def _read(source: Source, collector: Collector, options: Options) -> None:
    def convert(line: int, values: list[str]) -> Row:
        stamp, request, response, total = values
        prompt, output = size("Request tokens", request), size("Response tokens", response)
        if output:
            check_total(total, "Total tokens", prompt, output)
        return prompt, output, time_ns("Timestamp", stamp, "s"), None

    collector.run(csv_rows(source, collector, _NEEDED, ("Total tokens",)), convert)


FORMAT = Format(name="burstgpt", title="BurstGPT (CSV)", layout="csv", needed=_NEEDED, read=_read)
