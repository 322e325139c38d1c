"""splitwise-sim: ``request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size``, seconds.

A request id that occurs twice is refused with both lines.
"""

from lbtheory.decode.traces._collect import Collector, Options, Row
from lbtheory.decode.traces._format import Format
from lbtheory.decode.traces._parse import size, time_ns
from lbtheory.decode.traces._source import BadRow, Source
from lbtheory.decode.traces._tables import csv_rows

_NEEDED = ("request_id", "arrival_timestamp", "prompt_size", "token_size")


def _read(source: Source, collector: Collector, options: Options) -> None:
    seen: dict[str, int] = {}

    def convert(line: int, values: list[str]) -> Row:
        request, arrived, prompt, tokens, batch = values
        if not request:
            raise BadRow("request_id is empty.", "Correct or remove the line.")
        first = seen.setdefault(request, line)
        if first != line:
            raise BadRow(f"request_id {request!r} is a duplicate: it is on line {first} too.", "Remove one of the two lines.")
        if batch is not None and size("batch_size", batch) != 1:
            raise BadRow(f"batch_size must be 1; got {batch}.", "Write one line a request.")
        return size("prompt_size", prompt), size("token_size", tokens), time_ns("arrival_timestamp", arrived, "s"), None

    collector.run(csv_rows(source, collector, _NEEDED, ("batch_size",)), convert)


FORMAT = Format(
    name="splitwise", title="splitwise-sim (CSV)", layout="csv", needed=_NEEDED, read=_read, aliases=("splitwise-sim",)
)
