"""Faces by facenet-pytorch: `facenet:casia-webface` or `facenet:vggface2`.

There is no face detection: an image must be a face. The package requires versions of NumPy, Pillow and PyTorch from
2024, older than ours. Its network works with newer versions, so install it without its dependencies, after the extra
`face`.
"""

from __future__ import annotations

import numpy as np

from ordinate.data.pictures import picture
from ordinate.embedding.network import (
    Network,
    choose_device,
    drawn_from,
    fetching,
    image_encoder,
    needing,
    weights_digest,
)
from ordinate.errors import InvalidInput

INSTALL = "python -m pip install 'ordinate[face]' && python -m pip install --no-deps facenet-pytorch"
SIDE = 160  # pixels of the images that the network was trained on
FILES = {"casia-webface": "20180408-102900-casia-webface.pt", "vggface2": "20180402-114759-vggface2.pt"}


def load(model: str, seed: int | None, device: str | None) -> Network:
    """The Inception-ResNet; with a seed, it has random weights."""
    if model not in FILES:
        raise InvalidInput(f"facenet has no weights {model!r}; it has {' and '.join(FILES)}")
    with needing("facenet_pytorch", "face", "embedding faces", INSTALL):
        import torch
        from facenet_pytorch import InceptionResnetV1
        from facenet_pytorch.models.inception_resnet_v1 import get_torch_home

    place = f"the file {FILES[model]}, from the releases of timesler/facenet-pytorch, in {get_torch_home()}/checkpoints"
    with fetching(f"facenet:{model}", place), drawn_from(seed):
        network = InceptionResnetV1(pretrained=model if seed is None else None)
    on = choose_device(device)
    network.eval().to(on)

    def prepare(data: bytes) -> torch.Tensor:
        # In the order of the package: resize, then (pixel - 127.5) / 128, with pixels from 0 to 255.
        face = picture(data).resize((SIDE, SIDE))
        pixels = np.asarray(face, dtype=np.float32).transpose(2, 0, 1)
        return torch.from_numpy((pixels - 127.5) / 128.0)

    return Network(
        weights_digest(network), f"1: resized to {SIDE}, (pixel - 127.5) / 128", prepare, image_encoder(network, on)
    )
