import io

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pyarrow import parquet as arrow_parquet

from openworld.core.errors import OpenworldError
from openworld.tables import parquet as tables
from openworld.tables.coded import Coded
from openworld.tables.parquet import decode_table, encode_table

pytestmark = pytest.mark.base

DTYPES = ["bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64"]


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(DTYPES).flatmap(lambda t: hnp.arrays(t, hnp.array_shapes(min_dims=1, max_dims=2, max_side=6))))
def test_arrays_come_back_with_dtype_shape_and_bits_and_bytes_are_repeatable(array):
    data = encode_table("t", {"x": array})
    back = decode_table(data)["x"]
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)
    assert encode_table("t", {"x": np.asfortranarray(array)}) == data


@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_no_rows(shape):
    assert decode_table(encode_table("t", {"x": np.zeros(shape, np.float32)}))["x"].shape == shape


def test_text_and_missing_values():
    columns = {
        "id": ["a", "ü\n"],
        "plain": np.array(["long one", "b"]),
        "some": [1, None],
        "none": [None, None],
    }
    back = decode_table(encode_table("t", columns))
    assert back["id"].tolist() == ["a", "ü\n"]
    assert back["plain"].tolist() == ["long one", "b"]
    assert back["some"].tolist() == [1, None]
    assert back["none"].tolist() == [None, None]


def test_refusals():
    with pytest.raises(OpenworldError, match=r"columns of table 'scores' differ in length: \{'a': 1, 'b': 2\}"):
        encode_table("scores", {"a": [1], "b": [1, 2]})
    with pytest.raises(OpenworldError, match=r"scores\.a cannot be stored"):
        encode_table("scores", {"a": [1, "two"]})
    with pytest.raises(OpenworldError, match=r"scores\.a has shape \(1, 1, 1\)"):
        encode_table("scores", {"a": np.zeros((1, 1, 1))})


def test_groups_of_rows_are_written_in_turn_and_give_the_bytes_of_one_writing(monkeypatch):
    monkeypatch.setattr(tables, "_ROWS_PER_GROUP", 8)
    names = np.array(["base", "new", "base", "ü"] * 5)
    columns = {"id": np.arange(20), "side": names, "logits": np.arange(40.0).reshape(20, 2)}
    sink = io.BytesIO()
    whole = pyarrow.table(
        {
            "id": columns["id"],
            "side": names.tolist(),
            "logits": pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(np.arange(40.0)), 2),
        }
    )
    arrow_parquet.write_table(whole, sink, row_group_size=8, compression="zstd", compression_level=3)
    assert encode_table("t", columns) == sink.getvalue()
    assert encode_table("t", columns | {"side": Coded.of(names)}) == sink.getvalue()
    assert encode_table("t", columns | {"side": names.astype(object)}) == sink.getvalue()


def test_coded_columns_come_back_coded_when_asked_for():
    columns = {"side": Coded.of(["base", "new", "new"]), "label": Coded(np.array([0, 1, 1], np.int8), [-1, 7])}
    data = encode_table("t", columns)
    plain, coded = decode_table(data), decode_table(data, coded=True)
    assert plain["side"].tolist() == coded["side"].tolist() == ["base", "new", "new"]
    assert isinstance(coded["side"], Coded) and coded["side"].codes.dtype == np.int8
    assert plain["label"].dtype == coded["label"].dtype == np.int64 and plain["label"].tolist() == [-1, 7, 7]
