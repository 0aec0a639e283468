"""`python -m hopwise_model`: train, requests, nested, bound, evaluate, export, score, tables, stack and corpus."""

import argparse
import json
import os
import re
import sys
from typing import NoReturn

from .errors import InputError, describe_problem


# Flags of `hopwise predict` that name the network.
NETWORK = ("rtt", "down", "up", "loss", "udp")
# Files of `stack`, and whether it needs them.
STACKED = {
    "train": ("rows of npm run bench -- reading --rows, to learn from", True),
    "validation": ("such rows of other pages and networks, which say what is kept", True),
    "measured": ("rows of npm run bench -- accuracy rows, where nothing may be lost", True),
    "test": ("rows for the final figure", False),
}


def main(arguments: list[str] | None = None) -> int:
    """Runs a command. Returns 0, or 2 on input that cannot be used."""
    options = parse_arguments(arguments)
    try:
        result = options.run(options)
    except InputError as error:
        return refuse(str(error))
    except OSError as error:
        return refuse(str(error) if error.filename is None else f"{error.filename}: {describe_problem(error)}")
    print(json.dumps(result) if options.json else format_result(result))
    return 0


def refuse(line: str) -> int:
    print(f"hopwise: {line}", file=sys.stderr)
    return 2


class Parser(argparse.ArgumentParser):
    """Reports what cannot be used in one line: the program, the place, what was expected."""

    def error(self, message: str) -> NoReturn:
        line = re.sub(r"invalid choice: (.*) \(choose from (.*)\)$", r"expected one of \2, got \1", message)
        line = re.sub(r"invalid int value: (.*)$", r"expected a whole number, got \1", line)
        self.exit(2, f"hopwise: {line.removeprefix('argument ')} (see {self.prog} --help)\n")


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = Parser(prog=os.environ.get("HOPWISE_CALLED_AS") or "hopwise_model", description="Learns which transport protocol is faster.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add_command(name: str, run, summary: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=summary, description=summary)
        command.add_argument("--json", action="store_true", help="print the result as JSON")
        command.set_defaults(run=run)
        return command

    train = add_command("train", run_train, "chooses settings on held-out network conditions and trains a model")
    train.add_argument("--out", required=True, metavar="DIR", help="folder for the model")
    train.add_argument("--scheduler", metavar="URL", help="of a Dask cluster that trains (default: this process)")
    requests = add_command("requests", run_requests, "trains the extension's trees on measured sessions, and judges them held out")
    requests.add_argument("--table", required=True, metavar="FILE", help="of npm run lab -- requests")
    requests.add_argument("--out", required=True, metavar="DIR", help="folder for the model and its card")
    evaluate = add_command("evaluate", run_evaluate, "compares learners and windows on held-out network conditions")
    export = add_command("export", run_export, "writes a model as ONNX and compares it with Python")
    export.add_argument("--out", required=True, metavar="DIR", help="folder for the ONNX files")
    score = add_command("score", run_score, "mean request times of a model's choices on a log")
    tables = add_command("tables", run_tables, "WiseTrans's Tables 1, 2 and 4 and Figure 13, by random rows and by conditions")
    tables.add_argument("--folds", type=int, default=10, help="of the cross-validation (default 10, as in the paper)")
    nested = add_command("nested", run_nested, "judges the whole training by nested folds of network conditions")
    bound = add_command("bound", run_bound, "what bounds choices on a log: those of who knows each network but has not measured it")
    for command in (nested, bound):
        command.add_argument("--repeats", type=count, default=3, metavar="N", help="seeds of the folds, 1 to N (default 3)")
    stack = add_command("stack", run_stack, "whether trees on top of the emulator choose better than it alone, held out")
    for name, (summary, is_required) in STACKED.items():
        stack.add_argument(f"--{name}", required=is_required, metavar="FILE", help=summary)
    corpus = add_command("corpus", run_corpus, "predicts a corpus of recordings, as tables and a report")
    corpus.add_argument("source", metavar="SRC", help="folder of recordings and HARs, or a URL such as s3://bucket/hars")
    corpus.add_argument("--out", required=True, metavar="DIR", help="folder or URL for tables and report; continues what it has")
    corpus.add_argument("--scheduler", metavar="URL", help="of a Dask cluster, such as tcp://host:8786 (default: one on this machine)")
    corpus.add_argument("--workers", type=count, metavar="N", help="on this machine (default: one for each processor)")
    corpus.add_argument("--labels", metavar="FILE", help="CSV with the column recording and others, such as country, to group by")
    corpus.add_argument("--no-advice", action="store_true", help="leaves out what changes of servers gain, which takes most of the time")
    for name in NETWORK:
        corpus.add_argument(f"--{name}", metavar="X", help="of the visitors' network, as for hopwise predict")
    for command in (train, nested, bound, evaluate, score, tables):
        command.add_argument("--log", required=True, metavar="FILE", help="CSV in WiseTrans's format, plain or gzipped")
    for command in (evaluate, export, score):
        command.add_argument("--model", required=True, metavar="DIR", help="folder that train wrote")
    for command in (train, requests, evaluate, tables):
        command.add_argument("--seed", type=int, default=1, help="of the folds (default 1)")
    return parser.parse_args(arguments)


# The libraries take seconds to import: `--help` and wrong arguments do not wait for them.
def run_train(options: argparse.Namespace) -> dict:
    from .model_store import save_model
    from .request_log import read_log
    from .training import train_model

    log = read_log(options.log)
    if options.scheduler is None:
        model = train_model(log, options.seed, print_progress)
    else:
        from .cluster import connect

        with connect(options.scheduler) as client:
            model = train_model(log, options.seed, print_progress, client)
    save_model(model, options.out)
    return model.card


def run_requests(options: argparse.Namespace) -> dict:
    from .session_model import train_transport

    return train_transport(options.table, options.out, options.seed, print_progress)


def run_evaluate(options: argparse.Namespace) -> dict:
    from .evaluation import evaluate_log
    from .model_store import load_model
    from .request_log import read_log

    settings = load_model(options.model).learner.settings
    return evaluate_log(read_log(options.log), settings, options.seed, print_progress)


def run_export(options: argparse.Namespace) -> dict:
    from .model_store import load_model
    from .onnx_export import export_model

    return export_model(load_model(options.model), options.out)


def run_score(options: argparse.Namespace) -> dict:
    from .model_store import load_model
    from .request_log import read_log
    from .scoring import score_log

    log = read_log(options.log)
    if log.skipped:
        print_progress(f"{options.log}: skipped {log.skipped}")
    return score_log(load_model(options.model), log)


def run_tables(options: argparse.Namespace) -> dict:
    from .paper_tables import reproduce_tables
    from .request_log import read_log

    return reproduce_tables(read_log(options.log), options.folds, options.seed, print_progress)


def run_nested(options: argparse.Namespace) -> dict:
    from .nested import judge_training
    from .request_log import read_log

    return judge_training(read_log(options.log), options.repeats, print_progress)


def run_bound(options: argparse.Namespace) -> dict:
    from .bound import judge_bound
    from .request_log import read_log

    return judge_bound(read_log(options.log), options.repeats, print_progress)


def run_stack(options: argparse.Namespace) -> dict:
    from .stacking import judge_stacking
    from .stacking_rows import read_rows

    files = {name: path for name in STACKED if (path := getattr(options, name)) is not None}
    tables = {name: read_rows(path) for name, path in files.items()}
    shared = [knowledge for knowledge in tables["train"] if all(knowledge in table for table in tables.values())]
    if not shared:
        raise InputError(f"{', '.join(files.values())}: expected rows with the same knowledge in each")
    for name, table in tables.items():
        if table[shared[0]].names != tables["train"][shared[0]].names:
            raise InputError(f"{files[name]}: expected the features of {files['train']}")
    return {
        knowledge: judge_stacking(
            tables["train"][knowledge], {name: table[knowledge] for name, table in tables.items() if name != "train"}
        )
        for knowledge in shared
    }


def run_corpus(options: argparse.Namespace) -> dict:
    from .corpus.run import run_corpus

    flags = [(f"--{name}", getattr(options, name)) for name in NETWORK]
    return run_corpus(
        options.source,
        options.out,
        print_progress,
        scheduler=options.scheduler,
        workers=options.workers,
        labels=options.labels,
        advise=not options.no_advice,
        flags=tuple(text for name, value in flags if value is not None for text in (name, value)),
    )


def count(text: str) -> int:
    """A number of workers or repeats."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got {text!r}")
    return int(text)


def print_progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def format_result(result: dict, indent: str = "") -> str:
    """Nested dictionaries, and lists of them, as indented lines; means with their intervals on one."""
    lines = []
    for name, value in result.items():
        if isinstance(value, dict) and value.keys() == {"mean", "low", "high"}:
            lines.append(f"{indent}{name}: {value['mean']:.4f} ({value['low']:.4f} to {value['high']:.4f})")
        elif isinstance(value, dict):
            lines += [f"{indent}{name}", format_result(value, indent + "  ")]
        elif isinstance(value, list):
            lines += [f"{indent}{name}", *(f"{indent}  {item}" for item in value)]
        else:
            lines.append(f"{indent}{name}: {f'{value:.4g}' if isinstance(value, float) else value}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
