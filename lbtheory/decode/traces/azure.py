"""Azure LLM inference traces of 2023 and 2024: ``TIMESTAMP,ContextTokens,GeneratedTokens``.

The 2023 files have seven fractional digits and no zone, the 2024 files a zone and as many digits as needed, none included.
Times are whole nanoseconds throughout.
"""

from lbtheory.decode.traces._collect import Collector, Options, Row
from lbtheory.decode.traces._format import Format
from lbtheory.decode.traces._parse import datetime_ns, size
from lbtheory.decode.traces._source import Source
from lbtheory.decode.traces._tables import csv_rows

_NEEDED = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")


def _read(source: Source, collector: Collector, options: Options) -> None:
    def convert(line: int, values: list[str]) -> Row:
        stamp, prompt, output = values
        return size("ContextTokens", prompt), size("GeneratedTokens", output), datetime_ns("TIMESTAMP", stamp), None

    collector.run(csv_rows(source, collector, _NEEDED), convert)


FORMAT = Format(
    name="azure",
    title="Azure LLM inference 2023 and 2024 (CSV)",
    layout="csv",
    needed=_NEEDED,
    read=_read,
    aliases=("azure2023", "azure2024", "azure-2023", "azure-2024"),
)
