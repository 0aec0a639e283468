"""`python -m hopwise_model`: train, evaluate, export and score."""

import argparse
import json
import sys

from .errors import InputError


def main(arguments: list[str] | None = None) -> int:
    """Runs a command. Returns 0, or 2 on input that cannot be used."""
    options = parse_arguments(arguments)
    try:
        result = options.run(options)
    except (InputError, OSError) as error:
        print(f"hopwise_model: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result) if options.json else format_result(result))
    return 0


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="hopwise_model", description="Learns which transport protocol is faster.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add_command(name: str, run, summary: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=summary, description=summary)
        command.add_argument("--json", action="store_true", help="print the result as JSON")
        command.set_defaults(run=run)
        return command

    train = add_command("train", run_train, "chooses settings on held-out network conditions and trains a model")
    train.add_argument("--out", required=True, metavar="DIR", help="folder for the model")
    evaluate = add_command("evaluate", run_evaluate, "compares learners and windows on held-out network conditions")
    export = add_command("export", run_export, "writes a model as ONNX and compares it with Python")
    export.add_argument("--out", required=True, metavar="DIR", help="folder for the ONNX files")
    score = add_command("score", run_score, "mean request times of a model's choices on a log")
    tables = add_command("tables", run_tables, "WiseTrans's Tables 1 and 2 and Figure 13, by random rows and by conditions")
    tables.add_argument("--folds", type=int, default=10, help="of the cross-validation (default 10, as in the paper)")
    for command in (train, evaluate, score, tables):
        command.add_argument("--log", required=True, metavar="FILE", help="CSV in WiseTrans's format, plain or gzipped")
    for command in (evaluate, export, score):
        command.add_argument("--model", required=True, metavar="DIR", help="folder that train wrote")
    for command in (train, evaluate, tables):
        command.add_argument("--seed", type=int, default=1, help="of the folds (default 1)")
    return parser.parse_args(arguments)


# The libraries take seconds to import: `--help` and wrong arguments do not wait for them.
def run_train(options: argparse.Namespace) -> dict:
    from .model_store import save_model
    from .request_log import read_log
    from .training import train_model

    model = train_model(read_log(options.log), options.seed, print_progress)
    save_model(model, options.out)
    return model.card


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


def print_progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def format_result(result: dict, indent: str = "") -> str:
    """Nested dictionaries, and lists of them, as indented lines."""
    lines = []
    for name, value in result.items():
        if isinstance(value, dict):
            lines += [f"{indent}{name}", format_result(value, indent + "  ")]
        elif isinstance(value, list):
            lines += [f"{indent}{name}", *(f"{indent}  {item}" for item in value)]
        else:
            lines.append(f"{indent}{name}: {f'{value:.4g}' if isinstance(value, float) else value}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
