"""Every reader on small files: what it accepts, and how it refuses what it does not."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from lbtheory.core import EmptyTraceError, FileFormatError, ParameterError, SizeOverflowError, UnknownNameError
from lbtheory.decode.traces import FORMATS, describe, read_trace

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
BURST = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
SPLIT = "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n"


@pytest.fixture
def write(tmp_path: Path):
    """Write text to a file and return its path."""

    def make(text: str | bytes, name: str = "trace.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return make


def jsonl(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


GOOD = {
    "azure": AZURE + "2024-05-10 00:00:00.009930+00:00,10,3\n2024-05-10 00:00:01.009930+00:00,20,4\n",
    "burstgpt": BURST + "5,ChatGPT,10,3,13,Conversation log\n6,GPT-4,20,4,24,API log\n",
    "mooncake": jsonl(
        {"timestamp": 27000, "input_length": 10, "output_length": 3, "hash_ids": [0]},
        {"timestamp": 28000, "input_length": 20, "output_length": 4, "hash_ids": [1]},
    ),
    "vidur": "arrived_at,num_prefill_tokens,num_decode_tokens\n0.5,10,3\n1.5,20,4\n",
    "splitwise": SPLIT + "0,2,0,7.25,1,10,3\n1,2,0,8.25,1,20,4\n",
    "llmservingsim": jsonl(
        {"input_toks": 10, "output_toks": 3, "arrival_time_ns": 46926808, "input_tok_ids": list(range(10))},
        {"input_toks": 20, "output_toks": 4, "arrival_time_ns": 1046926808, "input_tok_ids": list(range(20))},
    ),
    "plain-json": json.dumps(
        {
            "data": [
                {"input_length": 10, "output_length": 3, "arrival": 1},
                {"input_length": 20, "output_length": 4, "arrival": 2},
            ]
        }
    ),
}


@pytest.mark.parametrize("form", GOOD)
@pytest.mark.parametrize("wrap", ["plain", "gzip", "bom", "crlf", "cr", "no last end", "blank lines"])
def test_every_format_is_found_and_read(write, form: str, wrap: str) -> None:
    data = GOOD[form].encode()
    data = {
        "plain": data,
        "gzip": gzip.compress(data),
        "bom": b"\xef\xbb\xbf" + data,
        "crlf": data.replace(b"\n", b"\r\n"),
        "cr": data.replace(b"\n", b"\r"),
        "no last end": data.rstrip(b"\n"),
        "blank lines": b"\n" + data.replace(b"\n", b"\n\n"),
    }[wrap]
    trace = read_trace(write(data))
    assert trace.format == form
    assert trace.prompts.tolist() == [10, 20] and trace.outputs.tolist() == [3, 4]
    assert trace.arrivals.tolist() == [0.0, 1.0]
    assert not trace.prompts.flags.writeable and trace.notes == ()
    assert read_trace(write(data), format=form).arrivals.tolist() == [0.0, 1.0]


def test_names_of_formats(write) -> None:
    assert set(FORMATS) == {*GOOD, "columns"}
    path = write(GOOD["azure"])
    assert read_trace(path, format="Azure_2024").format == "azure"
    with pytest.raises(UnknownNameError, match="Did you mean 'azure'"):
        read_trace(path, format="azzure")
    with pytest.raises(FileFormatError, match=r"line 1: the header lacks 'num_prefill_tokens'"):
        read_trace(path, format="vidur")
    with pytest.raises(ParameterError, match="needs `columns`"):
        read_trace(path, format="columns")
    with pytest.raises(ParameterError, match="`time_unit` goes with `columns` only"):
        read_trace(path, time_unit="s")
    with pytest.raises(ParameterError, match="format 'columns' only"):
        read_trace(path, format="azure", columns="prompt=a,output=b")
    with pytest.raises(ParameterError, match="'refuse' or 'drop'"):
        read_trace(path, zero_outputs="keep")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b,c\n1,2,3\n", r"line 1: the format cannot be told.*'a', 'b', 'c'.*--columns arrival="),
        ("0.5,10,3\n", "the format cannot be told.*--columns"),
        (
            "TIMESTAMP,ContextToken,GeneratedTokens\n",
            r"looks like format 'azure' but lacks 'ContextTokens' \(nearest present: 'ContextToken'\)",
        ),
        ("timestamp,contexttokens,generatedtokens\n", r"lacks 'TIMESTAMP' \(nearest present: 'timestamp'\)"),
        ("num_prefill_tokens\n5\n", r"looks like format 'vidur' but lacks 'num_decode_tokens'"),
        ("[1, 2]\n", r"bare JSON list.*\{\"data\""),
        ('{"a": 1}\n', "the format cannot be told.*--columns"),
        ('{"timestamp": 1, "input_length": 2}\n', "looks like format 'mooncake' but lacks 'output_length'"),
        ('{"timestamp": 1, "input_len', "cut short"),
        ("TIMESTAMP;ContextTokens;GeneratedTokens\n", "cannot be told"),
        (b"\xff\xfea\x00,\x00", "not UTF-8 text"),
        (b"PK\x03\x04\x00\x00", "not UTF-8 text"),
        ('"a,b\n', "quoted field is not closed"),
    ],
)
def test_no_format_fits(write, text, message: str) -> None:
    path = write(text)
    for call in (read_trace, describe):
        with pytest.raises(FileFormatError, match=message) as caught:
            call(path)
        assert caught.value.file == str(path) and str(path) in str(caught.value)


def test_files_that_cannot_be_opened(tmp_path: Path, write) -> None:
    with pytest.raises(FileFormatError, match="No such file"):
        read_trace(tmp_path / "absent.csv")
    with pytest.raises(FileFormatError, match="directory"):
        read_trace(tmp_path)
    rows = "".join(f"2023-11-16 18:15:46.{i:07d},{i % 900 + 1},{i % 77 + 1}\n" for i in range(50_000))
    packed = gzip.compress((AZURE + rows).encode())
    cut = write(packed[: len(packed) // 2])
    with pytest.raises(FileFormatError, match=r"line \d+: the gzip stream is cut short"):
        read_trace(cut)
    d = describe(cut)
    assert d.problem_count == 1 and 10_000 < d.requests < 40_000 and d.problems[0].line == d.requests + 2
    with pytest.raises(FileFormatError, match="gzip"):
        read_trace(write(b"\x1f\x8bnonsense"))
    text = '{"data": [' + ",".join(['{"input_length": 10, "output_length": 3}'] * 20_000) + "]}"
    packed = gzip.compress(text.encode())
    with pytest.raises(FileFormatError, match=r"gzip stream is (cut short|damaged)"):
        read_trace(write(packed[: len(packed) * 3 // 4]))


def test_azure_time_stamps_are_exact(write) -> None:
    stamps = ["18:15:46", "18:15:46.5", "18:15:46.6805900", "18:15:46.680590001", "18:15:46.6805900019", "18:15:47.000000"]
    rows = "".join(f"2023-11-16 {stamp},10,3\n" for stamp in stamps)
    got = read_trace(write(AZURE + rows))
    assert got.arrivals.tolist() == [0.0, 0.5, 0.68059, 0.680590001, 0.680590001, 1.0]
    zones = ["00:00:00+00:00", "00:00:01Z", "02:00:02+02:00", "2T", "05:30:04.25+0530"]
    zones[3] = "00:00:03"
    got = read_trace(write(AZURE + "".join(f"2024-05-10 {stamp},10,3\n" for stamp in zones)))
    assert got.arrivals.tolist() == [0.0, 1.0, 2.0, 3.0, 4.25]
    got = read_trace(write(AZURE + "2024-02-29T23:59:59.9999999,1,1\n2024-03-01 00:00:00,2,2\n"))
    assert got.arrivals.tolist() == [0.0, 1e-7]


@pytest.mark.parametrize(
    "row, message",
    [
        ("2023-02-30 00:00:00,1,1", "not a date and time that exists"),
        ("2023-11-16 24:00:00,1,1", "not a date and time that exists"),
        ("yesterday,1,1", "TIMESTAMP must be a date and time such as"),
        ("2023-11-16 18:15:46.,1,1", "TIMESTAMP must be a date"),
        ("2023-11-16 18:15:46,NaN,1", "ContextTokens must be finite; got 'NaN'"),
        ("2023-11-16 18:15:46,inf,1", "ContextTokens must be finite"),
        ("2023-11-16 18:15:46,-5,1", "ContextTokens must not be negative; got '-5'"),
        ("2023-11-16 18:15:46,10.5,1", "ContextTokens must be a whole number of tokens; got '10.5'"),
        ("2023-11-16 18:15:46,1_0,1", "ContextTokens must be a number; got '1_0'"),
        ("2023-11-16 18:15:46,ten,1", "ContextTokens must be a number; got 'ten'"),
        ("2023-11-16 18:15:46,,1", "ContextTokens is empty"),
        ("2023-11-16 18:15:46,0,1", "zero prompt tokens"),
        ("2023-11-16 18:15:46,1,0", "zero output tokens.*--zero-outputs drop"),
        ("2023-11-16 18:15:46,1", "does not fit the header: 2 fields, the header has 3"),
        ("2023-11-16 18:15:46,1,1,1", "4 fields, the header has 3"),
        ('2023-11-16 18:15:46,"1,1', "quoted field"),
    ],
)
def test_bad_rows_name_the_line(write, row: str, message: str) -> None:
    good = "2023-11-16 18:15:40,10,3\n"
    path = write(AZURE + good + row + "\n" + good)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_trace(path)
    assert caught.value.line == 3 and f"{path}, line 3: " in str(caught.value) and caught.value.remedy
    d = describe(path)
    assert (d.requests, d.problem_count, d.problems[0].line) == (2, 1, 3)
    assert d.as_json()["problems"][0]["line"] == 3


def test_whole_numbers_may_be_written_with_a_point(write) -> None:
    trace = read_trace(write(AZURE + '2023-11-16 18:15:40,10.0,"3"\n 2023-11-16 18:15:41 , 1e3 ,4\n'))
    assert trace.prompts.tolist() == [10, 1000] and trace.outputs.tolist() == [3, 4]


@pytest.mark.parametrize("text", [str(2**40), str(2**63), "9" * 5000, "1e999999999999", "1e30"])
def test_sizes_that_would_overflow(write, text: str) -> None:
    path = write(AZURE + f"2023-11-16 18:15:40,{text},3\n")
    with pytest.raises(SizeOverflowError, match=r"line 2: ContextTokens must stay below 1099511627776"):
        read_trace(path)
    path = write(f'{{"input_toks": 3, "output_toks": {text}}}\n')
    with pytest.raises((SizeOverflowError, FileFormatError), match=r"line 2|line 1"):
        read_trace(path, format="llmservingsim")
    assert describe(path, format="llmservingsim").problem_count == 1


def test_total_that_would_overflow(write) -> None:
    rows = "".join(f"{2**40 - 1},1\n" for _ in range(8193))
    with pytest.raises(SizeOverflowError, match="sum to 9007199254740992 or more"):
        read_trace(write("num_prefill_tokens,num_decode_tokens\n" + rows))


def test_last_line_cut_short(write) -> None:
    with pytest.raises(FileFormatError, match="line 3: the last line is cut short: 2 fields") as caught:
        read_trace(write(GOOD["azure"][:-3]))
    assert "may be cut short" in caught.value.remedy
    with pytest.raises(FileFormatError, match="line 2: the last line is cut short"):
        read_trace(write(GOOD["mooncake"][:-8]))
    with pytest.raises(FileFormatError, match=r"line 3: GeneratedTokens is empty.*may be cut short"):
        read_trace(write(GOOD["azure"][:-2]))
    for cut in (20, 40, 80, len(GOOD["plain-json"]) - 1):
        with pytest.raises(FileFormatError, match="line 1: the file is cut short"):
            read_trace(write(GOOD["plain-json"][:cut]))
    d = describe(write(GOOD["plain-json"][:-20]))
    assert (d.requests, d.problem_count) == (1, 1)


def test_unsorted_arrivals_are_sorted_and_counted(write) -> None:
    text = "arrived_at,num_prefill_tokens,num_decode_tokens\n" + "5,1,1\n3,2,1\n4,3,1\n6,4,1\n3,5,1\n"
    path = write(text)
    trace = read_trace(path)
    assert trace.prompts.tolist() == [2, 5, 3, 1, 4] and trace.arrivals.tolist() == [0, 0, 1, 2, 3]
    assert trace.sorted_rows == 3 and "3 rows were behind a later arrival" in str(trace.notes[0])
    d = describe(path)
    assert d.sorted_rows == 3 and d.problem_count == 0 and "sorted" in d.as_json()["notes"]["sorted"]


def test_zero_outputs_dropped_and_counted(write) -> None:
    path = write(BURST + "5,ChatGPT,10,3,13,Conversation log\n6,GPT-4,300,0,300,API log\n7,GPT-4,0,0,0,API log\n")
    with pytest.raises(FileFormatError, match="line 3: the request has zero output tokens"):
        read_trace(path)
    trace = read_trace(path, zero_outputs="drop")
    assert (trace.n, trace.dropped) == (1, 2)
    d = describe(path, zero_outputs="drop")
    assert (d.requests, d.dropped, d.problem_count) == (1, 2, 0)
    assert d.notes["dropped"] == "2 requests with zero output tokens were dropped"
    only = write(BURST + "6,GPT-4,300,0,300,API log\n")
    with pytest.raises(EmptyTraceError, match=r"no request to replay .1 requests with zero output"):
        read_trace(only, zero_outputs="drop")
    d = describe(only, zero_outputs="drop")
    assert (d.requests, d.dropped, d.prompt.mean, d.rate) == (0, 1, None, None) and "prompt" in d.notes


def test_totals_that_contradict(write) -> None:
    with pytest.raises(FileFormatError, match=r"line 2: num_total_tokens is 14 but prompt \+ output is 10 \+ 3 = 13"):
        read_trace(write("num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n10,3,14,3.33\n"))
    with pytest.raises(FileFormatError, match="line 2: Total tokens is 14"):
        read_trace(write(BURST + "5,ChatGPT,10,3,14,Conversation log\n"))


def test_burstgpt_with_sessions(write) -> None:
    text = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    assert read_trace(write(text + "5,9,1.5,ChatGPT,10,3,13,Conversation log\n")).prompts.tolist() == [10]


def test_splitwise_duplicate_ids_and_batches(write) -> None:
    with pytest.raises(FileFormatError, match="line 4: request_id '0' is a duplicate: it is on line 2 too"):
        read_trace(write(GOOD["splitwise"] + "0,2,0,9,1,30,5\n"))
    with pytest.raises(FileFormatError, match="line 4: batch_size must be 1; got 2"):
        read_trace(write(GOOD["splitwise"] + "2,2,0,9,2,30,5\n"))
    with pytest.raises(FileFormatError, match="line 4: request_id is empty"):
        read_trace(write(GOOD["splitwise"] + ",2,0,9,1,30,5\n"))


def test_mooncake_hash_lists(write) -> None:
    big = 2**63 + 12345
    records = [
        {"timestamp": t, "input_length": 600, "output_length": 3, "hash_ids": ids}
        for t, ids in enumerate([[1, big], [1, big + 1], [1, big], [2**70, 1], [2**70, 1]])
    ]
    trace = read_trace(write(jsonl(*records)))
    assert trace.keys.tolist() == [0, 1, 0, 2, 2], "ids that a double cannot tell apart stay apart"
    bad = {"timestamp": 9, "input_length": 1025, "output_length": 3, "hash_ids": [1, 2]}
    with pytest.raises(FileFormatError, match="line 6: hash_ids has 2 blocks but input_length 1025 needs 3 of 512"):
        read_trace(write(jsonl(*records, bad)))
    for ids in ([1.0, 2, 3], "abc", [True, 2, 3]):
        with pytest.raises(FileFormatError, match="line 1: hash_ids must be a list of whole numbers"):
            read_trace(write(jsonl({**bad, "hash_ids": ids})))
    with pytest.raises(FileFormatError, match="line 2: some requests have a prompt key"):
        read_trace(write(jsonl({**bad, "hash_ids": [1, 2, 3]}, {"timestamp": 9, "input_length": 5, "output_length": 3})))
    plain = read_trace(write(jsonl({"timestamp": 9, "input_length": 5, "output_length": 3})))
    assert plain.keys is None


@pytest.mark.parametrize(
    "line, message",
    [
        ('{"timestamp": 0, "input_length": NaN, "output_length": 3}', "input_length must be finite; got NaN"),
        ('{"timestamp": 0, "input_length": 1.5, "output_length": 3}', "input_length must be a whole number of tokens; got 1.5"),
        ('{"timestamp": 0, "input_length": "10", "output_length": 3}', "input_length must be a number; got the string '10'"),
        ('{"timestamp": 0, "input_length": true, "output_length": 3}', "must be a whole number of tokens; got True"),
        ('{"timestamp": 0, "input_length": null, "output_length": 3}', "must be a whole number of tokens; got None"),
        ('{"timestamp": 0, "input_length": -1, "output_length": 3}', "must not be negative; got -1"),
        ('{"timestamp": null, "input_length": 1, "output_length": 3}', "timestamp must be a time in ms; got None"),
        ('{"timestamp": 1e300, "input_length": 1, "output_length": 3}', "timestamp is out of range"),
        ('{"timestamp": Infinity, "input_length": 1, "output_length": 3}', "timestamp must be finite"),
        ('{"timestamp": 0, "input_length": 1}', "the record lacks 'output_length'"),
        ('{"timestamp": 0, "input_length": 1, "output_length": 3} {}', "more than one JSON value"),
        ("[1]", "must hold a JSON object; got list"),
        ("[" * 100_000, "cannot be read as JSON|not valid JSON"),
        ('{"timestamp": 0,, "input_length": 1}', "not valid JSON"),
    ],
)
def test_bad_json_records(write, line: str, message: str) -> None:
    good = '{"timestamp": 0, "input_length": 5, "output_length": 3}\n'
    path = write(good + line + "\n" + good)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_trace(path)
    assert caught.value.line == 2
    assert (describe(path).requests, describe(path).problem_count) == (2, 1)


def test_llmservingsim_variants(write) -> None:
    lengths = read_trace(write(jsonl({"input_toks": 10, "output_toks": 3})))
    assert lengths.arrivals is None and lengths.keys is None
    same = {"input_toks": 2, "output_toks": 1, "arrival_time_ns": 1, "input_tok_ids": [7, 8], "output_tok_ids": [9]}
    assert read_trace(write(jsonl(same, same))).keys.tolist() == [0, 0]
    with pytest.raises(FileFormatError, match="line 1: input_tok_ids has 3 entries but input_toks is 2"):
        read_trace(write(jsonl({**same, "input_tok_ids": [7, 8, 9]})))
    with pytest.raises(FileFormatError, match="line 1: agentic sessions"):
        read_trace(write(jsonl({"session_id": "a", "arrival_time_ns": 0, "sub_requests": []})))
    with pytest.raises(FileFormatError, match="line 2: some requests have an arrival time"):
        read_trace(
            write(jsonl({"input_toks": 1, "output_toks": 3, "arrival_time_ns": 0}, {"input_toks": 10, "output_toks": 3}))
        )


def test_plain_json_shapes(write) -> None:
    one = {"input_length": 10, "output_length": 3}
    many = {"meta": {"a": [1, "]}"]}, "x": 12, "data": [one] * 5000, "after": "text"}
    for indent in (None, 2):
        trace = read_trace(write(json.dumps(many, indent=indent)))
        assert trace.n == 5000 and trace.arrivals is None
    with pytest.raises(FileFormatError, match=r"line 4: data\[1\]: input_length must not be negative"):
        read_trace(write('{"data": [\n{"input_length": 10, "output_length": 3},\n\n{"input_length": -1, "output_length": 3}]}'))
    with pytest.raises(FileFormatError, match=r"data\[0\]: lacks 'output_length' .nearest present: 'output_len'"):
        read_trace(write('{"data": [{"input_length": 10, "output_len": 3}]}'))
    with pytest.raises(FileFormatError, match=r"data\[0\]: must be an object; got int"):
        read_trace(write('{"data": [3]}'))
    with pytest.raises(FileFormatError, match="expected '\\['"):
        read_trace(write('{"data": 3}'), format="json")
    with pytest.raises(FileFormatError, match="key 'data' is missing"):
        read_trace(write('{"a": 3}'), format="plain-json")
    with pytest.raises(EmptyTraceError):
        read_trace(write('{"data": []}'))
    with pytest.raises(FileFormatError, match="line 2: not valid JSON"):
        read_trace(write('{"data": [{"input_length": 10, "output_length": 3},\n{"input_length" 1}' + " " * 200_000 + "]}"))


def test_columns(write) -> None:
    ids = [2**64 - 1, 2**64 - 2, 0, 2**63]
    text = "when,in,out,id\n" + "".join(
        f"{t},{10 + i},3,{k}\n" for i, (t, k) in enumerate(zip([7, 8, 9, 10.5], ids, strict=True))
    )
    path = write(text)
    trace = read_trace(path, columns="arrival=when,prompt=in,output=out,key=id", time_unit="ms")
    assert trace.keys.dtype == np.uint64 and trace.keys.tolist() == ids
    assert trace.arrivals.tolist() == [0, 0.001, 0.002, 0.0035] and trace.format == "columns"
    assert read_trace(path, columns="prompt=in, output=out").arrivals is None
    signed = write(f"in,out,id\n1,1,{-(2**63)}\n1,1,{2**63 - 1}\n")
    assert read_trace(signed, columns="prompt=in,output=out,key=id").keys.tolist() == [-(2**63), 2**63 - 1]
    named = write("in,out,id\n1,1,ab\n1,1,7\n1,1,ab\n1,1,07\n")
    trace = read_trace(named, columns="prompt=in,output=out,key=id")
    assert trace.keys.tolist() == [0, 1, 0, 2] and "numbered" in str(trace.notes[0])
    stamped = write("when,in,out\n2024-05-10 00:00:01,1,1\n2024-05-10 00:00:00.5,2,2\n")
    trace = read_trace(stamped, columns="arrival=when,prompt=in,output=out", time_unit="datetime")
    assert trace.prompts.tolist() == [2, 1] and trace.arrivals.tolist() == [0, 0.5]
    with pytest.raises(FileFormatError, match=r"line 2: when must be a number.*time unit is 's'.*--time-unit.*datetime"):
        read_trace(stamped, columns="arrival=when,prompt=in,output=out")
    with pytest.raises(FileFormatError, match=r"lacks 'inn' \(nearest present: 'in'\)"):
        read_trace(path, columns="prompt=inn,output=out")
    with pytest.raises(FileFormatError, match="column 'in' occurs twice"):
        read_trace(write("in,out,in\n1,1,1\n"), columns="prompt=in,output=out")
    with pytest.raises(FileFormatError, match="fields seem to be separated by ';'"):
        read_trace(write("in;out\n1;1\n"), columns="prompt=in,output=out")
    with pytest.raises(FileFormatError, match="line 2: the prompt key is empty"):
        read_trace(write("in,out,id\n1,1,\n"), columns="prompt=in,output=out,key=id")


@pytest.mark.parametrize(
    "columns, error, message",
    [
        ("prompt", ParameterError, "must name a column for each role"),
        ("prompt=a", ParameterError, "must name the column of 'output'"),
        ("prompt=a,output=", ParameterError, "must name one column for 'output'"),
        ("prompt=a,prompt=b,output=c", ParameterError, "must name one column for 'prompt'"),
        ("promt=a,output=b", UnknownNameError, "Did you mean 'prompt'"),
    ],
)
def test_bad_column_specifications(write, columns: str, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        read_trace(write("a,b\n1,1\n"), columns=columns)
    with pytest.raises(ParameterError, match="s, ms, us, ns, datetime; got 'h'"):
        read_trace(write("a,b\n1,1\n"), columns="prompt=a,output=b", time_unit="h")


def test_describe_counts_all_problems_and_lists_the_first(write) -> None:
    path = write(AZURE + "2023-11-16 18:15:40,10,3\n" + "x,1,1\n" * 250 + "2023-11-16 18:15:42,20,5\n")
    d = describe(path)
    assert (d.requests, d.problem_count, len(d.problems), d.problems[-1].line) == (2, 250, 100, 102)
    out = d.as_json()
    assert list(out) == ["format", "requests", "prompt", "output", "rate", "span", "problems", "notes"]
    assert list(out["prompt"]) == ["mean", "p50", "p95", "p99", "max"]
    assert out["rate"] == 1.0 and out["span"] == 2.0 and "250 problems found; the first 100" in out["notes"]["problems"]
    json.dumps(out, allow_nan=False)


def test_describe_says_why_something_is_null(write) -> None:
    lengths = describe(write("num_prefill_tokens,num_decode_tokens\n1,2\n")).as_json()
    assert lengths["rate"] is None and lengths["span"] is None
    assert lengths["notes"]["rate"] == lengths["notes"]["span"] == "the file has no arrival times"
    once = describe(write(AZURE + "2023-11-16 18:15:40,10,3\n")).as_json()
    assert once["rate"] is None and once["span"] == 0.0 and "same time" in once["notes"]["rate"]
    empty = describe(write(AZURE)).as_json()
    assert empty["requests"] == 0 and empty["prompt"]["mean"] is None and "no usable request" in empty["notes"]["prompt"]
    with pytest.raises(EmptyTraceError, match="holds no request"):
        read_trace(write(AZURE))


def test_a_total_may_exceed_the_limit_of_one_size(write) -> None:
    top = 2**40 - 1
    trace = read_trace(write(f"num_prefill_tokens,num_decode_tokens,num_total_tokens\n{top},2,{top + 2}\n"))
    assert (trace.prompts.tolist(), trace.outputs.tolist()) == ([top], [2])
