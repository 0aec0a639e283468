import json
import re

import pytest
from distributed import LocalCluster
from generated_log import generate_rows, write_log

from hopwise_model import validation
from hopwise_model.__main__ import main
from hopwise_model.learner import Settings

GRID = [Settings(3, 1, joint=False), Settings(3, 1, joint=True)]


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """A log, and a model trained on it."""
    folder = tmp_path_factory.mktemp("model")
    log = write_log(folder / "log.csv.gz", generate_rows())
    train(log, folder / "model")
    return folder


def train(log, out, *options):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hopwise_model.training.GRID", GRID)
        assert main(["train", "--log", str(log), "--out", str(out), *options]) == 0


def run_json(capsys, *arguments):
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_score_prints_four_mean_times(paths, capsys):
    unseen = write_log(paths / "unseen.csv.gz", generate_rows(37, seed=2))
    scored = run_json(capsys, "score", "--model", paths / "model", "--log", unseen)
    assert list(scored) == ["chosenMs", "alwaysTcpMs", "alwaysQuicMs", "oracleMs"]
    assert scored["chosenMs"] <= 1.01 * scored["oracleMs"] < scored["alwaysQuicMs"] < scored["alwaysTcpMs"]


def test_training_is_deterministic(paths, tmp_path):
    train(paths / "log.csv.gz", tmp_path / "again")
    for file in (paths / "model").iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()


def test_a_cluster_chooses_the_settings_of_one_process_and_fits_as_well(paths, tmp_path, capsys):
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        for name in ("first", "second"):
            train(paths / "log.csv.gz", tmp_path / name, "--scheduler", cluster.scheduler_address)
    cards = [json.loads((folder / "model.json").read_text())["card"] for folder in (tmp_path / "first", paths / "model")]
    assert [card["workers"] for card in cards] == [2, 1]
    for name in ("grid", "heldOut"):
        assert cards[0][name] == cards[1][name]
    for file in (tmp_path / "first").iterdir():
        assert (tmp_path / "second" / file.name).read_bytes() == file.read_bytes()
    unseen = write_log(paths / "unseen.csv.gz", generate_rows(37, seed=2))
    capsys.readouterr()
    scored = run_json(capsys, "score", "--model", tmp_path / "first", "--log", unseen)
    assert scored["chosenMs"] <= 1.01 * scored["oracleMs"]


def test_the_card_has_figures_of_conditions_held_out(paths):
    card = json.loads((paths / "model" / "model.json").read_text())["card"]
    assert (card["conditions"], card["testConditions"]) == (30, 8)  # a quarter of 30, rounded
    assert card["heldOut"]["chosenMs"] < card["heldOut"]["alwaysQuicMs"]
    for shares in card["importances"].values():
        assert sum(shares.values()) == pytest.approx(1, abs=1e-5)


def test_exported_models_answer_as_python_does(paths, tmp_path, capsys):
    exported = run_json(capsys, "export", "--model", paths / "model", "--out", tmp_path)
    assert exported
    for name, figures in exported.items():
        assert (tmp_path / name).stat().st_size == figures["bytes"] <= 300_000
        assert figures["maxDifference"] <= 1e-6


def with_value(manifest, name, value):
    return json.loads(manifest.read_text()) | {name: value}


@pytest.mark.parametrize("damage", ["truncate trees", "truncate manifest", "other version", "no trees", "checker", "policy"])
def test_a_damaged_model_is_refused_with_one_line(paths, tmp_path, capsys, damage):
    for file in (paths / "model").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    trees, manifest = next(tmp_path.glob("*.ubj")), tmp_path / "model.json"
    match damage:
        case "truncate trees":
            trees.write_bytes(trees.read_bytes()[:-10])
        case "truncate manifest":
            manifest.write_text(manifest.read_text()[:100])
        case "other version":
            manifest.write_text(manifest.read_text().replace('"formatVersion": 2', '"formatVersion": 1'))
        case "no trees":
            trees.unlink()
        case "checker":
            manifest.write_text(json.dumps(with_value(manifest, "checker", {"mean": 0.3, "variance": -1, "spreads": [1, 1]})))
        case "policy":
            manifest.write_text(json.dumps(with_value(manifest, "policy", {"fixed": "SCTP", "rules": {}})))
    assert main(["score", "--model", str(tmp_path), "--log", str(paths / "log.csv.gz")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert str(tmp_path) in error and "expected" in error


def test_a_log_with_few_conditions_is_refused(tmp_path, capsys):
    log = write_log(tmp_path / "log.csv", generate_rows(5))
    assert main(["train", "--log", str(log), "--out", str(tmp_path / "model")]) == 2
    assert "expected at least 20 network conditions, found 5" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()


def test_the_grid_has_separate_and_joint_models():
    assert {settings.joint for settings in validation.GRID} == {False, True}


def test_the_card_says_what_decides_over_each_protocol(paths):
    card = json.loads((paths / "model" / "model.json").read_text())["card"]
    assert card["policy"] == {"TCP": "trees", "QUIC": "trees"}
    text = (paths / "model" / "CARD.md").read_text()
    assert "- requests over TCP: trees\n- requests over QUIC: trees\n" in text
    assert "| the trees alone |" in text


def test_nested_folds_judge_the_whole_training(paths, capsys, monkeypatch):
    monkeypatch.setattr("hopwise_model.training.GRID", GRID[:1])
    judged = run_json(capsys, "nested", "--log", paths / "log.csv.gz", "--repeats", 2)
    assert judged["folds"] == 10  # 2 seeds of 5 folds
    for name in ("allRequests", "otherHalf"):
        chosen, always_quic = judged[name]["chosenMs"], judged[name]["alwaysQuicMs"]
        assert chosen["lowest"] <= chosen["median"] <= chosen["highest"] < always_quic["lowest"]
    # Both halves agree on which protocol is faster.
    assert judged["otherHalf"]["knownConditionMs"]["median"] == pytest.approx(judged["otherHalf"]["oracleMs"]["median"])
    assert judged["foldsWorseThanAlwaysQuic"] == 0
    assert judged["worstFoldOverAlwaysQuic"] <= 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("", r"the following arguments are required: COMMAND \(see hopwise_model --help\)"),
        ("nope", "COMMAND: expected one of 'train', .*, got 'nope' .*"),
        ("train", r"the following arguments are required: --out, --log \(see hopwise_model train --help\)"),
        ("corpus . --out x --network lte", "unrecognized arguments: --network lte .*"),
        ("corpus . --out x --workers 0", "--workers: expected a whole number from 1, got '0' .*"),
        ("tables --log none --folds x", "--folds: expected a whole number, got 'x' .*"),
        ("train --log none --out x", "none: expected a CSV file in WiseTrans's format: there is no such file"),
        ("tables --log .", "[.]: expected a CSV file in WiseTrans's format: it is a folder"),
        ("export --model none --out x", "none: expected a model that `train` wrote: there is no such file"),
        ("requests --table none --out x", "none: expected a table of `npm run lab -- requests`: there is no such file"),
        ("stack --train none --validation none --measured none", "none: there is no such file"),
        ("corpus none --out x", "/.*/none: expected a folder of recordings, but there is none"),
        (f"corpus {__file__} --out x", "/.*[.]py: expected a folder of recordings, but it is a file"),
        ("corpus . --out x", "/.*: expected files that end in .*, found none"),
        ("corpus . --out x --labels none", "none: expected a CSV file: there is no such file"),
    ],
)
def test_what_cannot_be_used_is_answered_in_one_line_and_nothing_is_begun(words, line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        code = main(words.split())
    except SystemExit as end:
        code = end.code
    printed = capsys.readouterr()
    assert (code, printed.out, printed.err.count("\n")) == (2, "", 1)
    assert re.fullmatch(f"hopwise: {line}\n", printed.err)
    assert list(tmp_path.iterdir()) == []
