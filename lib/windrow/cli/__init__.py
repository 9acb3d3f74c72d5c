"""The command line: `windrow COMMAND FILE`. One module a command; none starts Spark before it must."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

import typer

from windrow.cli.commands.backfill import backfill
from windrow.cli.commands.check import check
from windrow.cli.commands.diff import diff
from windrow.cli.commands.explain import explain
from windrow.cli.commands.forget import forget
from windrow.cli.commands.init import init
from windrow.cli.commands.json_schema import json_schema
from windrow.cli.commands.lineage import lineage
from windrow.cli.commands.maintain import maintain
from windrow.cli.commands.metrics import metrics
from windrow.cli.commands.plan import plan
from windrow.cli.commands.quarantine import quarantine
from windrow.cli.commands.reconcile import reconcile
from windrow.cli.commands.register import register
from windrow.cli.commands.report import report
from windrow.cli.commands.restate import restate
from windrow.cli.commands.run import run
from windrow.cli.commands.serve import serve
from windrow.cli.commands.show import show
from windrow.cli.commands.simulate import simulate
from windrow.cli.commands.status import status
from windrow.cli.commands.watch import watch
from windrow.cli.errors import INTERRUPTED, exit_code, shown_plainly, shows_traces
from windrow.cli.job import job
from windrow.cli.quick import quick_start
from windrow.cli.step import step

app = typer.Typer(
    name="windrow",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    help="Windows, triggers and exact corrections for lakehouse pipelines on Spark and Delta.",
    epilog="Exit codes: 0 it worked; 1 it ran, and the answer is no or it failed; 2 a wrong file or option.",
)
_WRITING = (run, backfill, restate, quarantine, forget, reconcile)
_LOOKING = (diff, status, watch, metrics, lineage, report, show, explain, simulate)
for _command in (init, plan, *_WRITING, *_LOOKING, register, serve, maintain, check, json_schema):
    app.command()(_command)
app.command(hidden=True)(step)
app.command(hidden=True)(job)


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point: run a command, and end with its exit code. Errors come without a trace, unless asked for."""
    if arguments is None:
        quick_start(sys.argv[1:])
    try:
        app(args=None if arguments is None else list(arguments))
    except Exception as error:
        if shows_traces():
            traceback.print_exception(error)
        print(shown_plainly(error), file=sys.stderr)
        sys.exit(exit_code(error))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
