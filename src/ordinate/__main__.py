"""`ordinate`, the command: runs the Typer application and turns failures into one line and an exit code.

0  done        1  the environment failed (disk, network, memory)        2  bad input or usage        130  interrupted
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (None: the arguments of the process) and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        # Characters that the terminal's encoding lacks are shown escaped instead of ending the command.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    return exit_code(lambda: _run(arguments))


def exit_code(command: Callable[[], object]) -> int:
    """Call a command; report an error in one line on standard error, and return the exit code."""
    try:
        code = _attempt(command)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        sys.stdout.flush()
    except KeyboardInterrupt:
        _complain("Interrupted. Answers given so far are stored; unfinished files were not written.")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`head`, say) has closed the pipe. Without this, Python would fail again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _run(arguments: Sequence[str] | None) -> object:
    from ordinate.cli import application

    words = sys.argv[1:] if arguments is None else arguments
    if arguments is None:
        _say_what_is_logged("ordinate.compiled")
    return application(words)(args=words, prog_name="ordinate", standalone_mode=False)


def _say_what_is_logged(name: str) -> None:
    log = logging.getLogger(name)
    log.setLevel(logging.INFO)
    log.addHandler(logging.StreamHandler())


def _attempt(command: Callable[[], object]) -> int:
    import typer

    from ordinate.errors import OrdinateError

    try:
        result = command()
    except OrdinateError as error:
        return _fail(f"{error}; {error.option}" if error.option else str(error), error.exit_code)
    except typer.Abort:
        return _fail("the input ended before an answer was given", 1)
    except BrokenPipeError:
        raise
    except OSError as error:
        return _fail(_environment(error), 1)
    except MemoryError as error:
        return _fail(f"not enough memory: {error}" if str(error) else "not enough memory", 1)
    except SystemError as error:
        from ordinate.compiled import interrupted

        if interrupted(error):
            return INTERRUPTED
        raise
    except Exception as error:
        # Usage errors: Typer's classes for them moved between versions, but kept these attributes.
        format_message = getattr(error, "format_message", None)
        if format_message is None:
            raise
        context = getattr(error, "ctx", None)
        path = getattr(context, "command_path", "ordinate")
        # Without a command Typer has already shown the help, and its message is empty.
        message = format_message().rstrip(".").replace(": Value error, ", ": ") or "name a command"
        stop = "" if message.endswith("?") else "."
        return _fail(f"{message}{stop} See: {path} --help", getattr(error, "exit_code", 2))
    return result if isinstance(result, int) else 0


def _environment(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    return f"{reason}: {error.filename}" if error.filename is not None else reason


def _fail(message: str, code: int) -> int:
    _complain(f"Error: {message}")
    return code


def _complain(message: str) -> None:
    from ordinate.cli.screen import one_line

    print(one_line(message), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
