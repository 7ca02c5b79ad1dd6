"""`ordinate serve`: people judge together in the browser."""

from __future__ import annotations

import ipaddress
import os
import re
import signal
import socket
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

import typer

from ordinate.cli.media import has_viewer
from ordinate.cli.options import study_url, take_passwords
from ordinate.cli.screen import count, note, say
from ordinate.errors import InvalidInput, MissingExtra, StorageFailed

if TYPE_CHECKING:
    from ordinate.server.authentication import Authenticator
    from ordinate.storage.places import Place, PostgresqlDatabase

SECRET_VARIABLE = "ORDINATE_SECRET"
SECRET_FILE = ".ordinate-secret"


def serve(
    studies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FOLDER|STUDY.db]...",
            help="A folder for studies, which may be empty, or the files of studies, or postgresql://HOST/DATABASE/STUDY.",
            show_default=False,
            callback=take_passwords,
        ),
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(
            "--storage",
            metavar="DATABASE",
            help="postgresql://HOST/DATABASE: keep the studies there, and only their files in the folder.",
            callback=take_passwords,
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Make a study of 100 versions of one photo, and serve it.")
    ] = False,
    folder: Annotated[
        str | None,
        typer.Option("--folder", metavar="FOLDER", help="Where --demo makes its study; default: a temporary folder."),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen at; 0.0.0.0: all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0: any that is free.")] = 8000,
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            metavar="URL",
            help="The address of the server as browsers see it, behind a proxy; with a path where it has one.",
        ),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--proxy",
            metavar="ADDRESS",
            help="A proxy whose X-Forwarded headers are believed: an IP address or a network such as 10.0.0.0/8.",
        ),
    ] = None,
    user_header: Annotated[
        str | None,
        typer.Option(
            "--user-header",
            metavar="NAME",
            help="The header in which these proxies say who somebody is, such as X-Remote-User.",
        ),
    ] = None,
    secret_file: Annotated[
        str | None,
        typer.Option(
            "--secret-file",
            metavar="FILE",
            help=f"The file of the secret that signs links; made if missing. Or set {SECRET_VARIABLE}.",
            show_default=False,
        ),
    ] = None,
    lease: Annotated[
        float | None,
        typer.Option("--lease", metavar="SECONDS", help="How long a pair stays with an annotator; at first 600."),
    ] = None,
    annotator_budget: Annotated[
        int | None, typer.Option("--annotator-budget", metavar="N", help="Answers asked of each annotator.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", metavar="N", help="Answers asked of all together, without those left out.")
    ] = None,
    repeat: Annotated[
        float | None,
        typer.Option("--repeat", metavar="SHARE", help="Share of pairs that an annotator is asked again, e.g. 0.05."),
    ] = None,
    random: Annotated[
        float | None,
        typer.Option("--random", metavar="SHARE", help="Share of pairs that are drawn at random; at first 0.1."),
    ] = None,
    after_models: Annotated[
        bool | None,
        typer.Option(
            "--after-models/--no-after-models", help="Whether people first get the pairs of which models are unsure."
        ),
    ] = None,
    ties: Annotated[bool | None, typer.Option("--ties/--no-ties", help="Whether a tie is an answer.")] = None,
    media: Annotated[
        list[str] | None,
        typer.Option("--media", metavar="FOLDER", help="A folder outside the study's own that items show files of."),
    ] = None,
    log: Annotated[
        Literal["text", "json"],
        typer.Option("--log", help="json: a line of JSON for each request and failure; text: failures alone."),
    ] = "text",
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metrics",
            metavar="ADDRESS",
            help="Who may read /metrics (Prometheus): an IP address or a network such as 10.0.0.0/8.",
        ),
    ] = None,
    open_browser: Annotated[
        bool | None, typer.Option("--open/--no-open", help="Open the owner's page in a browser; default: on a desktop.")
    ] = None,
) -> None:
    """Let people judge pairs together in the browser, and programs through HTTP.

    Of a folder it prints one link, for you: the page behind it makes studies of files that you drop there, and has all
    studies of the folder. Of files of studies it prints two links for each: one for its owner, one to hand to
    annotators. With --storage any number of servers may share the folder and the database. Rules given as options are
    stored in the studies and hold until they are changed, here or on the page.
    """
    if demo == bool(studies):
        raise InvalidInput("name a folder or the file of a study, or give --demo")
    database = None if storage is None else study_database(storage)
    rules = {
        "lease": lease,
        "annotator_budget": annotator_budget,
        "budget": budget,
        "repeat": repeat,
        "random": random,
        "after_models": after_models,
        "ties": ties,
    }
    with _ending_in_order() as ending, _demo_folder(folder) if demo else nullcontext() as demo_folder:
        try:  # first of all: what follows needs these packages, and nobody should find a folder made for nothing
            from ordinate.server import connections
            from ordinate.server.app import create_app
            from ordinate.server.operating import log_json_lines
        except ModuleNotFoundError as error:
            raise MissingExtra(str(error.name), "app", "ordinate serve") from error
        workspace = _workspace(studies or [])
        if storage is not None and workspace is None:
            raise InvalidInput("--storage is for the studies of a folder: ordinate serve FOLDER --storage ...")
        if demo_folder is not None:
            paths = [_demo_study(demo_folder)]
        else:
            paths = [] if workspace is not None else [study_place(study) for study in studies or []]
        at = workspace or next((one.folder for one in paths if one.folder is not None), None)
        secret = secret_for(secret_file, host, at)
        proxies = [_network("--proxy", one) for one in proxy or []]
        if user_header is not None and not proxies:
            raise InvalidInput(f"--user-header {user_header}: name the proxy that sends it, with --proxy ADDRESS")
        if user_header is not None and not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{0,63}", user_header):
            raise InvalidInput(f"--user-header {user_header!r}: give a header such as X-Remote-User")
        readers = [_network("--metrics", one) for one in metrics or []]
        if log == "json":
            log_json_lines()
        address = None if url is None else public_address(url)
        folders = [Path(one).absolute() for one in media or []]
        app = create_app(
            paths,
            secret,
            media_folders=folders,
            url=address,
            folder=workspace,
            database=database,
            metrics=readers,
        )
        authenticator: Authenticator = app.state.authenticator
        try:
            with _listening(host, port) as listener:
                given = {name: value for name, value in rules.items() if value is not None}
                start = address or _address(host, listener.getsockname()[1])
                if workspace is None:
                    owners = _print_links(authenticator, start, given)
                else:
                    if database is not None:
                        _note_files(workspace)
                    where = str(workspace) if database is None else f"{database.shown}, files in {workspace}"
                    owners = [_print_link(authenticator, start, given, where)]
                note("Stop with Ctrl-C. Answers are stored as they come in.")
                if owners and (has_viewer() if open_browser is None else open_browser):
                    webbrowser.open(owners[0])
                ending.raises = False
                connections.server(app, proxies, user_header, lambda: bool(ending.came)).run([listener])
        finally:
            app.state.close()


class _Terminated(BaseException):
    pass


class _Ending:
    """Hears SIGTERM and Ctrl-C.

    came    those that have come
    raises  whether each also raises, so that what runs is left at once. Python drops what a handler raises where it
            happens to interrupt the end of some object's life, so what looks at `came` by itself sets this to False.
    """

    def __init__(self) -> None:
        self.came: list[int] = []
        self.raises = True

    def hear(self, sig: int, frame: FrameType | None) -> None:
        self.came.append(sig)
        if self.raises:
            raise _Terminated if sig == signal.SIGTERM else KeyboardInterrupt


@contextmanager
def _ending_in_order() -> Iterator[_Ending]:
    """SIGTERM leaves the block as Ctrl-C does, and then ends the process as if nobody had noticed it."""
    ending = _Ending()
    if threading.current_thread() is not threading.main_thread():  # a test's; it gets no signals
        yield ending
        return
    heard = [sig for sig in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(sig) is not signal.SIG_IGN]
    before = {sig: signal.signal(sig, ending.hear) for sig in heard}
    try:
        yield ending
        ending.raises = True
        for sig in tuple(ending.came):
            signal.raise_signal(sig)
    except _Terminated:
        signal.signal(signal.SIGTERM, before[signal.SIGTERM])
        signal.raise_signal(signal.SIGTERM)
    finally:
        for sig, handler in before.items():
            signal.signal(sig, handler)


@contextmanager
def _demo_folder(folder: str | None) -> Iterator[Path]:
    """Where --demo makes its study; a temporary folder is removed in the end."""
    if folder is not None:
        yield Path(folder)
        return
    with TemporaryDirectory(prefix="ordinate-") as scratch:
        yield Path(scratch)


def _print_links(authenticator: Authenticator, start: str, rules: dict[str, Any]) -> list[str]:
    """Print two links for each study; returns those for owners."""
    owners: list[str] = []
    for served in authenticator.registry:
        if rules:
            served.study.set_rules(**rules)
        say(f"{served.place.shown}: {served.study.question}")
        for role, whom in (("owner", "for you, the owner"), ("annotator", "for annotators    ")):
            # Links named after their role are there from the first time on, so they stay what they were.
            link = served.study.make_link(role, "owner" if role == "owner" else None, name=role)  # type: ignore[arg-type]
            if link.revoked:
                again = f"ordinate link {quote(served.place.shown)}{' --shared' if role == 'annotator' else ''}"
                say(f"  {whom}  revoked; make another one on the owner's page or with: {again}")
                continue
            address = authenticator.address(start, served, link)
            say(f"  {whom}  {address}")
            owners += [address] if role == "owner" else []
    return owners


def _print_link(authenticator: Authenticator, start: str, rules: dict[str, Any], where: str) -> str:
    """Print and return the link of the owner of a server."""
    served = list(authenticator.registry)
    for one in served if rules else []:
        one.study.set_rules(**rules)
    address = f"{start}/enter/{authenticator.signer.server_link()}"
    say(f"{where}: {count(len(served), 'study', 'studies')}")
    say(f"  for you, the owner  {address}")
    return address


def _note_files(folder: Path) -> None:
    """Say so where studies in files of the folder are not served, since a database is."""
    from ordinate.server.study_files import StudyFiles

    files = [place.shown for place in StudyFiles(folder).all()]
    if files:
        note(
            f"{count(len(files), 'study', 'studies')} in files, such as {files[0]}, will not be served; to move one: "
            "ordinate db copy FILE DATABASE/STUDY"
        )


def _workspace(studies: list[str]) -> Path | None:
    """The folder that is to be served, if it is one; a new one is made."""
    folders = [study for study in studies if Path(study).is_dir()]
    from ordinate.data.formats.files import failures

    if len(studies) == 1 and not Path(studies[0]).suffix and "://" not in studies[0]:
        with failures("made", studies[0]):
            Path(studies[0]).mkdir(exist_ok=True)
        folders = studies
    if not folders:
        return None
    if len(studies) > 1:
        raise InvalidInput(f"serve one folder, or files of studies; {folders[0]!r} is a folder")
    return Path(os.path.realpath(folders[0]))


def public_address(url: str) -> str:
    """The address that links begin with, checked."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise InvalidInput(f"{url!r} is no address of a server; give one such as https://example.org/judging")
    return url.rstrip("/")


def _network(option: str, address: str) -> str:
    try:
        network = ipaddress.ip_network(address)
        if network.version == 6 and network.prefixlen >= 96 and (mapped := network.network_address.ipv4_mapped):
            network = ipaddress.ip_network((mapped, network.prefixlen - 96))  # as connections are named here
        return str(network) if "/" in address else str(network.network_address)
    except ValueError:
        raise InvalidInput(f"{option} {address!r}: give an IP address or a network, such as 127.0.0.1") from None


def study_place(study: str) -> Place:
    from ordinate.storage.places import SqliteFile, place

    found = place(study_url(study))
    # The folder of the file itself: the secret and items' files are there, however the file is addressed.
    return SqliteFile(found.folder / Path(study).name) if found.folder is not None else found


def study_database(url: str) -> PostgresqlDatabase:
    from ordinate.storage.places import database

    return database(url)


def _demo_study(folder: Path) -> Place:
    import numpy as np

    from ordinate.datasets import degrade_photo
    from ordinate.simulation.demo import ALGORITHM, QUESTION
    from ordinate.storage.places import SqliteFile
    from ordinate.study.study import Study

    path = folder.absolute() / "photos.db"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        photos = degrade_photo(np.random.default_rng(0))
        photos.write(folder)
        Study.create(photos.items, algorithm=ALGORITHM, question=QUESTION, storage=f"sqlite:///{path}").close()
    return SqliteFile(path)


def secret_for(file: str | None, host: str, folder: Path | None) -> str:
    """The secret that signs links; `folder` is where it is kept unless a file or the environment has it."""
    from ordinate.server.signing import secret_in

    if file is not None:
        return secret_in(Path(file))
    if secret := os.environ.get(SECRET_VARIABLE):
        return secret
    if folder is None:
        raise InvalidInput(
            "a study in a database may have several servers, which must sign links with one secret: name it with "
            f"--secret-file FILE (made if missing) or the environment variable {SECRET_VARIABLE}"
        )
    if not _is_loopback(host):
        raise InvalidInput(
            f"listening at {host} lets other machines in: choose the secret that signs links first, "
            f"with --secret-file FILE (made if missing) or the environment variable {SECRET_VARIABLE}"
        )
    return secret_in(folder / SECRET_FILE)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listening(host: str, port: int) -> socket.socket:
    """A socket that is bound already, so that nothing starts where the port is taken."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # With the protocol named, asyncio sends a reply at once; else it may wait 40 ms for the last one's receipt.
        listener = socket.socket(family, kind, protocol)
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(1024)
        except BaseException:
            listener.close()
            raise
    except OSError as error:
        raise StorageFailed(
            f"cannot listen at {host}, port {port}: {error.strerror}; choose another one, with --port"
        ) from error
    return listener


def _address(host: str, port: int) -> str:
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}"
