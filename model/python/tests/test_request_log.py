import pytest
from generated_log import generate_rows, write_log

from hopwise_model.errors import InputError
from hopwise_model.request_log import read_log


def test_columns_may_have_any_order_and_company(tmp_path):
    rows = generate_rows(3)
    expected = read_log(write_log(tmp_path / "a.csv", rows)).rows
    shuffled = rows[rows.columns[::-1]].assign(Extra="x")
    assert read_log(write_log(tmp_path / "b.csv.gz", shuffled)).rows.equals(expected)


def test_rows_may_have_any_order(tmp_path):
    rows = generate_rows(3)
    expected = read_log(write_log(tmp_path / "a.csv", rows)).rows
    assert read_log(write_log(tmp_path / "b.csv", rows.sample(frac=1, random_state=1))).rows.equals(expected)


def test_unusable_rows_are_skipped_and_counted(tmp_path):
    rows = generate_rows(3).astype({"Protocol": float, "Status": float})  # 3 conditions * 2 protocols * 20 = 120 rows
    rows.loc[0, "Status"] = -180
    rows.loc[1, "Duration"] = -5
    rows.loc[2, "Duration"] = float("nan")
    rows.loc[3, "Protocol"] = 7
    rows.loc[4, "Timestamp"] = "yesterday"
    rows.loc[5, "Loss"] = float("nan")
    rows.loc[6, "Duration"] = 1e9  # 1000 s
    log = read_log(write_log(tmp_path / "log.csv", rows))
    assert log.skipped == {
        "no condition": 1,
        "no time": 1,
        "unknown protocol": 1,
        "failed": 1,
        "impossible duration": 3,
    }
    assert len(log.rows) == 120 - 7


def test_negative_and_infinite_measurements_are_missing(tmp_path):
    rows = generate_rows(3)
    rows.loc[0, "Judge_Retran_long"] = -1
    rows.loc[1, "Judge_Rtt_9"] = float("inf")
    rows.loc[2, "Judge_Ttfb"] = 6.5e7
    rows.loc[3, "Judge_Thp"] = 1e300
    missing = read_log(write_log(tmp_path / "log.csv", rows)).rows.isna().sum()
    assert missing["Judge_Retran_long"] == missing["Judge_Rtt_9"] == missing["Judge_Ttfb"] == missing["Judge_Thp"] == 1


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (b"", "expected a CSV file"),
        (b"BW,Loss\n1,2\n", "expected the columns Delay, Window"),
        (b"\x1f\x8b\x08\x00", "expected a CSV file"),
    ],
)
def test_a_file_of_another_format_is_refused(tmp_path, contents, expected):
    path = tmp_path / ("log.csv.gz" if contents[:1] == b"\x1f" else "log.csv")
    path.write_bytes(contents)
    with pytest.raises(InputError, match=expected):
        read_log(path)


def test_a_damaged_gzip_file_is_refused(tmp_path):
    path = write_log(tmp_path / "log.csv.gz", generate_rows(20))
    contents = bytearray(path.read_bytes())
    contents[len(contents) // 2 :] = b"\xff" * (len(contents) - len(contents) // 2)
    path.write_bytes(contents)
    with pytest.raises(InputError, match="expected a CSV file"):
        read_log(path)
