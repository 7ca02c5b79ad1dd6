"""Features from pre-trained networks: items with texts or images -> items with a feature matrix, and the recipe.

>>> items, recipe = embed(items, "text:all-mpnet-base-v2", pca=0.9)     # doctest: +SKIP
>>> study = Study.create(items, recipe=recipe)                          # doctest: +SKIP
>>> study.add_items(embed_like(study.settings.recipe, new_items))       # doctest: +SKIP

The name of an encoder is FAMILY:MODEL, with a family from the table below. With `@untrained` at the end it is the same
network with random weights, with `@untrained=7` the weights of seed 7.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ordinate.cluster import Cluster
from ordinate.data.arrays import Floats
from ordinate.data.items import Items
from ordinate.data.projection import Projection, require_number
from ordinate.data.recipe import Recipe, require_named
from ordinate.embedding import facenet, open_clip, text, timm, xray
from ordinate.embedding.cache import VectorCache, default_folder
from ordinate.embedding.contents import Content, contents
from ordinate.embedding.files import read_embedding, require_suffix, write_embedding
from ordinate.embedding.network import Family, Network, Vectors, fingerprint
from ordinate.errors import InvalidInput, naming

__all__ = [
    "DEFAULTS",
    "FAMILIES",
    "Recipe",
    "default_encoder",
    "embed",
    "embed_like",
    "read_embedding",
    "require_suffix",
    "write_embedding",
]

EXTRA = "python -m pip install 'ordinate[%s]'"

FAMILIES: dict[str, Family] = {
    "text": Family(
        "text",
        "texts, by any model of sentence-transformers",
        EXTRA % "text",
        "all-mpnet-base-v2",
        text.load,
        "sentence_transformers",
    ),
    "timm": Family("image", "images, by any network of timm", EXTRA % "image", "resnet34", timm.load, "timm"),
    "open_clip": Family(
        "image",
        "images, by any CLIP of open_clip",
        EXTRA % "image",
        "ViT-B-32/laion2b_s34b_b79k",
        open_clip.load,
        "open_clip",
    ),
    "facenet": Family(
        "image",
        "faces, cropped, by facenet-pytorch",
        facenet.INSTALL,
        "casia-webface",
        facenet.load,
        "facenet_pytorch",
    ),
    "xray": Family(
        "image",
        "chest X-rays, by torchxrayvision",
        EXTRA % "xray",
        "densenet121-res224-all",
        xray.load,
        "torchxrayvision",
    ),
}
DEFAULTS = {"text": "text:all-mpnet-base-v2", "image": "timm:resnet34"}
BATCH = 32

Progress = Callable[[int, int], None]
"""Called with the number of distinct contents that are done, and of all."""

_UNTRAINED = re.compile(r"(?P<model>.+)@untrained(=(?P<seed>\d{1,18}))?")


class Encoder(NamedTuple):
    """The parts of an encoder's name; `seed`: of the untrained weights, or None."""

    family: str
    model: str
    seed: int | None


def embed(
    items: Items,
    encoder: str | None = None,
    *,
    pca: float | int | None = None,
    folder: str | Path = ".",
    cache: str | Path | None = None,
    batch: int = BATCH,
    device: str | None = None,
    progress: Progress | None = None,
    cluster: Cluster | None = None,
) -> tuple[Items, Recipe]:
    """The items with features made from their texts or images, and the recipe by which new items get theirs. Features
    that they have as named columns stay, as a block with a scale of its own; others are refused.

    encoder   None: `default_encoder`
    pca       share of the variance (0.9) or number of principal components (35) to keep; None: all columns
    folder    the folder at which relative paths of images start
    cache     the folder of computed vectors; None: see `cache.default_folder`
    batch     number of contents that are encoded at once, and that an interrupted run can lose
    device    of PyTorch; None: the fastest one available
    cluster   its workers run the network, each on its own device; the contents are sent to them

    Raises InvalidInput, which names the item; MissingExtra and WeightsMissing, which say how to get what is missing;
    ClusterFailed.
    """
    if pca is not None:
        require_number(pca)
    name = default_encoder(items) if encoder is None else encoder
    taken = parse_encoder(name)
    content = FAMILIES[taken.family].content
    require_named(items, content)
    listed = contents(items, content, folder)
    network, mark = _loaded(taken, device)
    encode = partial(_here, network) if cluster is None else partial(_there, cluster, taken, mark)
    vectors = _vectors(listed, encode, _cache(cache, mark), batch, progress)
    projection = None if pca is None else Projection.fit(vectors, pca)
    recipe = Recipe(_absolute(name), content, mark, projection)
    return _with_features(items, vectors, recipe), recipe


def embed_like(
    recipe: Recipe,
    items: Items,
    *,
    folder: str | Path = ".",
    cache: str | Path | None = None,
    batch: int = BATCH,
    device: str | None = None,
    progress: Progress | None = None,
) -> Items:
    """The items with features that follow an existing recipe; the other parameters are those of `embed`.

    Raises InvalidInput if the encoder of this name has other weights than when the recipe was made.
    """
    require_named(items, recipe.content)
    listed = contents(items, recipe.content, folder)
    network, mark = _loaded(parse_encoder(recipe.encoder), device)
    if mark != recipe.fingerprint:
        raise InvalidInput(
            f"{recipe.encoder} is no longer the encoder that made the features: its weights or its preprocessing have "
            "changed. Restore the old version, or embed all items again"
        )
    vectors = _vectors(listed, partial(_here, network), _cache(cache, mark), batch, progress)
    return _with_features(items, vectors, recipe)


def default_encoder(items: Items) -> str:
    """The encoder for the content of the items. Raises InvalidInput if they have neither texts nor images, or both."""
    kinds = [kind for kind in DEFAULTS if kind in items.content]
    if len(kinds) == 1:
        return DEFAULTS[kinds[0]]
    if kinds:
        raise InvalidInput(
            f"the items have texts and images; name the encoder, such as {' or '.join(DEFAULTS.values())}"
        )
    raise InvalidInput("there is nothing to embed: the items have neither a column 'text' nor a column 'image'")


def parse_encoder(name: str) -> Encoder:
    family, _, model = name.partition(":")
    if family not in FAMILIES or not model:
        known = ", ".join(f"{each}:{row.example}" for each, row in FAMILIES.items())
        raise InvalidInput(f"unknown encoder {name!r}; an encoder is FAMILY:MODEL, such as {known}")
    if (untrained := _UNTRAINED.fullmatch(model)) is not None:
        return Encoder(family, untrained["model"], int(untrained["seed"] or 0))
    if "@untrained" in model:
        raise InvalidInput(f"encoder {name!r}: write @untrained, or @untrained=SEED with a whole number as SEED")
    return Encoder(family, model, None)


def _absolute(name: str) -> str:
    """The name, with an absolute path if it has one: later commands may run in another folder."""
    family, _, rest = name.partition(":")
    model, marker, seed = rest.partition("@untrained")
    scheme = "local-dir:" if model.startswith("local-dir:") else ""
    folder = Path(model.removeprefix(scheme))
    return f"{family}:{scheme}{folder.resolve()}{marker}{seed}" if folder.is_dir() else name


def _loaded(encoder: Encoder, device: str | None) -> tuple[Network, str]:
    """The network, and its fingerprint."""
    network = FAMILIES[encoder.family].load(encoder.model, encoder.seed, device)
    return network, fingerprint(encoder.family, network)


def _cache(folder: str | Path | None, mark: str) -> VectorCache:
    return VectorCache(default_folder() if folder is None else folder, mark)


def _with_features(items: Items, vectors: Floats, recipe: Recipe) -> Items:
    features = vectors if recipe.projection is None else recipe.projection.apply(vectors)
    return recipe.beside_columns(items, features)


Batch = Sequence[tuple[str, bytes]]  # for each content, its place (for errors) and its bytes
Encode = Callable[
    [Iterable[Batch]], Iterable[tuple[int, Vectors]]
]  # batches -> position and vectors of each batch, in any order


def _vectors(
    listed: list[Content], encode: Encode, cache: VectorCache, batch: int, progress: Progress | None
) -> Floats:
    """(n, d) the vector of each content. Each distinct content is computed once, unless it is in the cache."""
    if batch < 1:
        raise InvalidInput(f"a batch holds at least one item; got {batch}")
    keys = [hashlib.sha256(content.read()).hexdigest() for content in listed]
    distinct = list(dict(zip(keys, listed, strict=True)).items())
    known = cache.found([key for key, _ in distinct])
    if progress is not None:
        progress(len(known), len(distinct))
    # Batches of the whole list, not of the missing contents: then an interrupted run continues with the same batches
    # and gives the same numbers to the last bit (the shape of a batch determines the order of summation).
    batches = [distinct[start : start + batch] for start in range(0, len(distinct), batch)]
    batches = [part for part in batches if any(key not in known for key, _ in part)]
    for place, vectors in encode([_read(*one) for one in part] for part in batches):
        found = dict(zip((key for key, _ in batches[place]), vectors, strict=True))
        new = {key: vector for key, vector in found.items() if key not in known}
        cache.add(new)
        known.update(new)
        if progress is not None:
            progress(len(known), len(distinct))
    return np.array([known[key] for key in keys], dtype=np.float64)


def _read(key: str, content: Content) -> tuple[str, bytes]:
    data = content.read()
    if hashlib.sha256(data).hexdigest() != key:
        with naming(content.where):
            raise InvalidInput("the file changed while it was read; embed again")
    return content.where, data


def _here(network: Network, batches: Iterable[Batch]) -> Iterator[tuple[int, Vectors]]:
    return enumerate(_encoded(network, batch) for batch in batches)


def _there(cluster: Cluster, encoder: Encoder, mark: str, batches: Iterable[Batch]) -> Iterator[tuple[int, Vectors]]:
    return cluster.results(partial(_on_worker, encoder, mark, batch) for batch in batches)


def _on_worker(encoder: Encoder, mark: str, batch: Batch, report: object) -> Vectors:
    network, own = _kept(encoder)
    if own != mark:
        raise InvalidInput(
            f"a worker of the cluster has other weights of {encoder.family}:{encoder.model}, or another preprocessing: "
            "install the same versions and the same weights on every machine"
        )
    return _encoded(network, batch)


@lru_cache(maxsize=1)
def _kept(encoder: Encoder) -> tuple[Network, str]:
    """The network and its fingerprint; a worker loads it once."""
    return _loaded(encoder, None)


def _encoded(network: Network, batch: Batch) -> Vectors:
    inputs = []
    for where, data in batch:
        with naming(where):
            inputs.append(network.prepare(data))
    return network.encode(inputs)
