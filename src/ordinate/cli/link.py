"""`ordinate link`: another link for an owner or for annotators, also where the last one was lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ordinate.cli.options import AsJson, StudyFile
from ordinate.cli.screen import note, print_json, say
from ordinate.cli.serve import SECRET_FILE, public_address, secret_for, study_place
from ordinate.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from ordinate.study.rules import Role


def link(
    study: StudyFile,
    shared: Annotated[
        bool, typer.Option("--shared", help="For annotators who give their own names, instead of an owner.")
    ] = False,
    annotator: Annotated[
        str | None, typer.Option("--annotator", "-a", metavar="NAME", help="For this annotator.", show_default=False)
    ] = None,
    viewer: Annotated[
        str | None,
        typer.Option(
            "--viewer", metavar="NAME", help="For this person, who may see the results alone.", show_default=False
        ),
    ] = None,
    owner: Annotated[
        str | None,
        typer.Option("--owner", metavar="NAME", help="For this owner, whom the log names.", show_default=False),
    ] = None,
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="The address of the server as browsers see it.")
    ] = "http://127.0.0.1:8000",
    secret_file: Annotated[
        str | None,
        typer.Option(
            "--secret-file",
            metavar="FILE",
            help="The file of the secret that signs links, as for: ordinate serve.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make another link to a study that is served, by default one for its owner.

    It works at once, also while the server runs. The secret must be the one that the server uses.
    """
    named = {"annotator": annotator, "viewer": viewer, "owner": owner}
    given: dict[Role, str | None] = {role: name for role, name in named.items() if name is not None}  # type: ignore[misc]
    if shared:
        given = {**given, "annotator": None}
    if len(given) + (shared and annotator is not None) > 1:
        raise InvalidInput("give one of --shared, --annotator, --viewer and --owner")
    role, name = next(iter(given.items()), ("owner", None))
    try:
        from ordinate.server.registry import short_name
        from ordinate.server.signing import LinkSigner
    except ModuleNotFoundError as error:
        raise MissingExtra(str(error.name), "app", "ordinate link") from error
    from ordinate.study.study import Study

    place, start = study_place(study), public_address(url)
    with Study.open(place.url) as opened:
        signer = LinkSigner(secret_for(secret_file, "localhost", _secret_folder(place.folder)))
        made = opened.make_link(role, name)
        address = f"{start}/join/{short_name(place.name)}/{signer.link(opened.token, made.id)}"
    if as_json:
        print_json({"study": study, "role": made.role, "annotator": made.annotator, "id": made.id, "url": address})
        return
    say(address)
    if made.role == "owner":
        note("This link is for an owner: whoever has it can change the study. For annotators, give --shared.")


def _secret_folder(folder: Path | None) -> Path | None:
    """A server of a folder keeps its secret there; a study made in the browser has a folder of its own in it."""
    if folder is None or (folder / SECRET_FILE).exists() or not (folder.parent / SECRET_FILE).is_file():
        return folder
    return folder.parent
