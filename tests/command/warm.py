"""The command in a process of its own that was forked from one which has imported everything before.

Most of what a short command costs is to import its libraries. What is about starting runs the program itself.
"""

import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

from logmem.__main__ import main

from .running import PATIENCE, Command, Told, environment

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    ["logmem.app", "logmem.operate", "logmem.through", "mcp.client.stdio", "mcp.client.streamable_http", __name__]
)


class Warm(Command):
    """A command of which `run` is forked."""

    def run(self, *arguments: str, **env: str) -> Told:
        """Run it once."""
        with tempfile.TemporaryDirectory() as made:
            out, err = Path(made, "out"), Path(made, "err")
            environ = environment(self.home, **{**self.env, **env})
            folder = str(self.folder or self.home.parent)
            process = _CONTEXT.Process(target=_become, args=(arguments, environ, folder, (os.devnull, out, err)))
            process.start()
            process.join(PATIENCE)
            if process.exitcode is None:
                process.kill()
                process.join()
            told = Told(process.exitcode or 0, out.read_text(), err.read_text())
            process.close()
        assert told.code >= 0, told
        assert "Traceback" not in told.err, told.err
        return told


def _become(
    arguments: tuple[str, ...], environ: dict[str, str], folder: str, streams: tuple[str | Path, Path, Path]
) -> None:
    """Be the command."""
    for number, name in enumerate(streams):
        opened = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(folder)
    sys.argv = ["logmem", *arguments]
    main()
