"""Public trace files that an experiment replays where they are at hand: named here, kept elsewhere.

They are looked for in the folder that the environment variable ``LBTHEORY_TRACES`` names, else in ``shared/data`` beside the
checkout. Experiments leave out what is not there.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_COUNTS = "prompt=prompt_tokens,output=output_tokens"
PUBLIC: dict[str, tuple[str, dict[str, Any]]] = {
    "Azure 2023 conversation": ("azure_llm_2023/AzureLLMInferenceTrace_conv.csv.gz", {}),
    "Azure 2023 code": ("azure_llm_2023/AzureLLMInferenceTrace_code.csv.gz", {}),
    "Mooncake conversation": ("mooncake_fast25/conversation_trace.jsonl.gz", {}),
    "Mooncake synthetic": ("mooncake_fast25/synthetic_trace.jsonl.gz", {}),
    "Etalon bwb": ("etalon_lengths/bwb_stats_llama2_tokenizer_filtered_v2.csv.gz", {}),
    "Etalon ShareGPT": ("etalon_lengths/sharegpt_8k_filtered_stats_llama2_tokenizer.csv.gz", {}),
    "Vidur arXiv": ("vidur_arxiv_summarization/arxiv_summarization_stats_llama2_tokenizer_filtered_v2.csv.gz", {}),
    "ServeGen R1": ("servegen_deepseek_r1/synthetic_10000.csv.gz", {"columns": _COUNTS}),
    "APEX creation, Llama": ("apex_traces/llama_creation_05.csv.gz", {"columns": _COUNTS}),
    "APEX creation, Mistral": ("apex_traces/mistral_creation_05.csv.gz", {"columns": _COUNTS}),
    "APEX LMSYS": ("apex_traces/llama_lmsys_05.csv.gz", {"columns": _COUNTS}),
    "APEX summarisation": ("apex_traces/llama_summarization_05_merged.csv.gz", {"columns": _COUNTS}),
    "ShareGPT 300": (
        "sharegpt_lengths_300/sharegpt_300_sps10_lengths.csv.gz",
        {"columns": "prompt=input_toks,output=output_toks"},
    ),
}
"""File and reading options by name."""

SYSTEMS = {
    "Etalon bwb": [(8, 16), (8, 128)],
    "Etalon ShareGPT": [(8, 64)],
    "Mooncake conversation": [(8, 16), (64, 16)],
    "Mooncake synthetic": [(8, 8)],
    "ServeGen R1": [(8, 16)],
    "Azure 2023 conversation": [(8, 16)],
    "Azure 2023 code": [(8, 16)],
    "Vidur arXiv": [(8, 16)],
    "APEX creation, Llama": [(4, 8)],
    "APEX creation, Mistral": [(4, 8)],
    "APEX LMSYS": [(4, 8)],
    "APEX summarisation": [(4, 8)],
    "ShareGPT 300": [(4, 8)],
}
"""Workers and slots of the systems that experiments on rules replay each of them with."""


def public_traces() -> dict[str, dict[str, Any]]:
    """The public traces that are at hand, as fields of `lbtheory.decode.workload.Source` (outputs of zero are dropped)."""
    named = os.environ.get("LBTHEORY_TRACES")
    folder = Path(named) if named else Path(__file__).resolve().parents[4] / "shared" / "data"
    found = {}
    for name, (file, options) in PUBLIC.items():
        if (folder / file).is_file():
            kind = {"trace_format": "columns"} if "columns" in options else {}
            found[name] = {"trace": str(folder / file), "zero_outputs": "drop", **kind, **options}
    return found


def left_out(names: Iterable[str]) -> str:
    """A sentence on the public traces that are not among ``names``, for captions."""
    missing = [name for name in PUBLIC if name not in set(names)]
    if not missing:
        return "All public traces that are named in the code were at hand."
    return f"Left out, because their files were not at hand (the folder is named by `LBTHEORY_TRACES`): {'; '.join(missing)}."
