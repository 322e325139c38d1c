"""What a trace format is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from lbtheory.decode.traces._collect import Collector, Options
from lbtheory.decode.traces._source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One file format.

    Attributes
    ----------
    name, title : str
    layout : {"csv", "jsonl", "json"}
    needed : tuple of str
        Columns of the header, or keys of every record, that the format must have; they are what it is found by.
    read : callable
        Reads a source into a collector.
    aliases : tuple of str
        Other names it answers to.
    """

    name: str
    title: str
    layout: Literal["csv", "jsonl", "json"]
    needed: tuple[str, ...]
    read: Callable[[Source, Collector, Options], None]
    aliases: tuple[str, ...] = ()
