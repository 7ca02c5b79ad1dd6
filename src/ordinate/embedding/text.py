"""Texts by sentence-transformers: `text:all-mpnet-base-v2`, any of its models, or a folder that holds one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ordinate.embedding.network import Network, Vectors, choose_device, drawn_from, fetching, needing, weights_digest


def load(model: str, seed: int | None, device: str | None) -> Network:
    """The model; with a seed, its architecture and tokenizer with random weights."""
    with needing("sentence_transformers", "text", "embedding texts"):
        from sentence_transformers import SentenceTransformer
        from transformers import AutoModel

    hub = model if "/" in model else f"sentence-transformers/{model}"
    place = f"the folder that `hf download {hub} --local-dir FOLDER` makes, given as text:FOLDER"
    with fetching(f"{model} (model {hub} of the Hugging Face hub)", place):
        network = SentenceTransformer(str(Path(model)) if Path(model).is_dir() else model, device="cpu")
    if seed is not None:
        with drawn_from(seed):
            network[0].model = AutoModel.from_config(network[0].model.config)
    on = choose_device(device)
    network.eval().to(on)

    def encode(texts: Sequence[Any]) -> Vectors:
        vectors: Vectors = network.encode(list(texts), batch_size=len(texts), show_progress_bar=False)
        return vectors

    preprocessing = f"1: utf-8, {network.max_seq_length} tokens, {network!r}, {_tokenizer(network)}"
    return Network(weights_digest(network), preprocessing, lambda data: data.decode("utf-8"), encode)


def _tokenizer(network: Any) -> str:
    """The serialised tokenizer: everything that it does."""
    fast = getattr(network.tokenizer, "backend_tokenizer", None)
    return str(network.tokenizer) if fast is None else str(fast.to_str())
