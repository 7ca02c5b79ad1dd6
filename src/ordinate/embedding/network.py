"""The interface of encoders: a loaded network, how it reads one item, and how it encodes a batch.

Also the parts of PyTorch that every family needs: the device, random weights from a seed, and a fingerprint.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordinate.errors import InvalidInput, MissingExtra, WeightsMissing

if TYPE_CHECKING:
    import torch

Vectors = NDArray[np.float32]


class Network(NamedTuple):
    """A network with its weights and its preprocessing.

    weights        the `weights_digest` of the weights
    preprocessing  a description of everything that turns an item into the network's input
    prepare        the bytes of one item -> the network's input; raises InvalidInput
    encode         inputs -> (inputs, d)
    """

    weights: str
    preprocessing: str
    prepare: Callable[[bytes], Any]
    encode: Callable[[Sequence[Any]], Vectors]


class Family(NamedTuple):
    """A row of the table of encoders.

    content  the content of an item that it reads
    summary  one line for `ordinate encoders`
    install  the command that installs what it needs
    example  the name of a model
    load     (model, seed of untrained weights or None for the trained ones, device or None) -> network
    module   that must be installed; None: nothing more
    """

    content: Literal["text", "image"]
    summary: str
    install: str
    example: str
    load: Callable[[str, int | None, str | None], Network]
    module: str | None = None

    @property
    def is_installed(self) -> bool:
        return self.module is None or find_spec(self.module) is not None


def choose_device(wanted: str | None) -> str:
    """The requested device or, for None, the fastest one available."""
    import torch

    if wanted is None:
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.zeros(1, device=wanted)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InvalidInput(f"device {wanted!r} cannot be used here: {str(error).splitlines()[0]}") from None
    return wanted


@contextmanager
def drawn_from(seed: int | None) -> Iterator[None]:
    """Within the block, PyTorch's global random state starts at the seed; afterwards the old state is restored.

    Libraries initialise networks from the global state, so they cannot be given a generator.
    """
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(seed or 0)
        yield


def fingerprint(family: str, network: Network) -> str:
    """SHA-256, in hexadecimal, of everything that determines the vector of an item."""
    return hashlib.sha256(f"{family}\n{network.preprocessing}\n{network.weights}".encode()).hexdigest()


def weights_digest(module: torch.nn.Module) -> str:
    """SHA-256, in hexadecimal, of all numbers in the network's state."""
    import torch

    digest = hashlib.sha256()
    for name, tensor in module.state_dict().items():
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def image_encoder(run: Callable[[Any], Any], device: str) -> Callable[[Sequence[Any]], Vectors]:
    """`Network.encode`, from a function of one tensor (images, channels, height, width)."""
    import torch

    def encode(inputs: Sequence[Any]) -> Vectors:
        with torch.inference_mode():
            vectors: Vectors = run(torch.stack(list(inputs)).to(device)).float().cpu().numpy()
        return vectors

    return encode


@contextmanager
def needing(package: str, extra: str, purpose: str, command: str | None = None) -> Iterator[None]:
    """Turn a missing optional library into an error that contains the pip command."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or package, extra, purpose, command) from error


@contextmanager
def fetching(what: str, place: str) -> Iterator[None]:
    """Turn missing weights into an error that says what they are and where to put them."""
    try:
        yield
    except Exception as error:  # every library, and its download library, raises its own errors
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise WeightsMissing(
            f"{what} cannot be loaded: {reason.rstrip('.')}. If its weights are not on this computer, connect it to "
            f"the network once, or bring from another one {place}"
        ) from error
