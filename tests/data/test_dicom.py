"""DICOM pictures: the samples of pydicom, and files made here, whose pixels are known."""

from __future__ import annotations

import io
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ordinate.data.dicom import read_dicom
from ordinate.data.pictures import picture, web_version
from ordinate.errors import InvalidInput, MissingExtra

pydicom = pytest.importorskip("pydicom")
pytestmark = pytest.mark.filterwarnings("ignore")  # pydicom warns of its own damaged samples

PIXELS = np.array([[0, 100, 200, 300], [400, 500, 600, 700]], dtype=np.uint16)


def sample(name: str) -> bytes:
    path = pydicom.data.get_testdata_file(name, download=False)
    if path is None:
        pytest.skip(f"this version of pydicom comes without {name}")
    return Path(path).read_bytes()


def made(syntax=None, **changes) -> bytes:
    file = pydicom.Dataset()
    file.PatientName, file.PatientID = "Muster^Eva", "4711"
    file.Rows, file.Columns = PIXELS.shape
    file.SamplesPerPixel, file.PhotometricInterpretation = 1, "MONOCHROME2"
    file.BitsAllocated, file.BitsStored, file.HighBit, file.PixelRepresentation = 16, 16, 15, 0
    file.PixelData = PIXELS.tobytes()
    file.SOPClassUID, file.SOPInstanceUID = pydicom.uid.SecondaryCaptureImageStorage, pydicom.uid.generate_uid()
    for name, value in changes.items():
        setattr(file, name, value)
    file.file_meta = pydicom.dataset.FileMetaDataset()
    file.file_meta.TransferSyntaxUID = syntax or pydicom.uid.ExplicitVRLittleEndian
    stream = io.BytesIO()
    pydicom.dcmwrite(stream, file, enforce_file_format=True)
    return stream.getvalue()


def grey(data: bytes) -> list[list[int]]:
    return [[int(value) for value in row] for row in np.asarray(read_dicom(data).image)]


def test_a_window_decides_what_is_black_and_white():
    data = made(WindowCenter=350, WindowWidth=401)  # from 149.5 to 549.5: PS3.3 C.11.2.1.2.1
    expected = np.rint(255 * np.clip((PIXELS - 149.5) / 400, 0, 1)).astype(int)
    assert grey(data) == expected.tolist()
    assert read_dicom(data).window == "centre 350, width 401"
    exact = made(WindowCenter=[350, 40], WindowWidth=[400, 80], VOILUTFunction="LINEAR_EXACT")
    assert grey(exact) == np.rint(255 * np.clip((PIXELS - 150.0) / 400, 0, 1)).astype(int).tolist()


@pytest.mark.parametrize("function", ["LINEAR", "LINEAR_EXACT"])
def test_a_window_of_width_1_is_a_threshold(function: str):
    # PS3.3 C.11.2.1.2.1: black where x <= c - 0.5 - (w - 1) / 2, white where x > c - 0.5 + (w - 1) / 2.
    data = made(WindowCenter=300.5, WindowWidth=1, VOILUTFunction=function)
    assert grey(data) == np.where(PIXELS > 300, 255, 0).tolist()
    inverted = made(WindowCenter=300.5, WindowWidth=1, PhotometricInterpretation="MONOCHROME1")
    assert grey(inverted) == np.where(PIXELS > 300, 0, 255).tolist()
    assert np.unique(grey(made(WindowCenter=300, WindowWidth=0))).size == PIXELS.size  # no window of LINEAR
    narrow = made(WindowCenter=300, WindowWidth=0.5, VOILUTFunction="LINEAR_EXACT")
    assert grey(narrow)[0] == [0, 0, 0, 128]


def test_the_window_is_that_of_pydicom_on_its_samples():
    for name in ("CT_small.dcm", "MR_small.dcm"):
        file = pydicom.dcmread(io.BytesIO(sample(name)))
        if "WindowCenter" not in file:
            file.WindowCenter, file.WindowWidth = 600, 1600
            stream = io.BytesIO()
            pydicom.dcmwrite(stream, file)
            data = stream.getvalue()
        else:
            data = sample(name)
        values = pydicom.pixels.apply_voi_lut(pydicom.pixels.apply_modality_lut(file.pixel_array, file), file)
        ours = np.asarray(read_dicom(data).image, dtype=float)
        inside = (ours > 0) & (ours < 255)  # pydicom scales to another range, linearly
        line = np.polyval(np.polyfit(values[inside], ours[inside], 1), values[inside])
        assert np.abs(line - ours[inside]).max() < 0.6


def test_without_a_window_the_range_and_the_slope_of_the_file_decide():
    expected = np.rint(255 * PIXELS.astype(float) / 700).astype(int)
    assert grey(made()) == expected.tolist()
    assert grey(made(RescaleSlope=2, RescaleIntercept=-1000)) == expected.tolist()
    assert (
        grey(made(PhotometricInterpretation="MONOCHROME1"))
        == np.rint(255 * (1 - PIXELS.astype(float) / 700)).astype(int).tolist()
    )
    assert read_dicom(made()).window is None


def test_nothing_of_the_patient_is_in_the_version_but_the_window_is():
    data = made(WindowCenter=350, WindowWidth=400)
    version = web_version(data)
    assert b"Muster" in data
    assert version is not None
    assert b"Muster" not in version.data
    assert b"4711" not in version.data
    with Image.open(io.BytesIO(version.data)) as shown:
        assert shown.info == {"DICOM window": "centre 350, width 400"}
    assert not version.windowed
    bare = web_version(made())
    assert bare is not None
    assert bare.windowed
    with pytest.raises(InvalidInput, match="burned into its pixels"):
        web_version(made(BurnedInAnnotation="YES"))


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("CT_small.dcm", "L"),
        ("MR_small_RLE.dcm", "L"),
        ("examples_rgb_color.dcm", "RGB"),
        ("examples_palette.dcm", "RGB"),
    ],
)
def test_samples_are_pictures(name: str, mode: str):
    found = read_dicom(sample(name))
    assert found.image.mode == mode
    assert np.asarray(found.image).std() > 1
    assert picture(sample(name)).mode == "RGB"


@pytest.mark.parametrize("name", ["rtplan.dcm", "reportsi.dcm", "MR_truncated.dcm"])
def test_what_holds_no_whole_picture_is_refused(name: str):
    with pytest.raises(InvalidInput, match="DICOM file without a picture that can be read"):
        read_dicom(sample(name))
    with pytest.raises(InvalidInput, match="DICOM"):
        read_dicom(bytes(128) + b"DICM" + bytes(100))


def test_several_frames_show_the_first():
    version = web_version(sample("SC_rgb_rle_2frame.dcm"))
    assert version is not None
    assert version.frames_left_out == 1


def test_the_missing_extra_is_named(monkeypatch):
    data = made()
    monkeypatch.setitem(sys.modules, "pydicom", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ordinate\[dicom\]'"):
        read_dicom(data)


def test_a_picture_that_would_fill_the_memory_is_refused_before_it_is_decoded():
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput, match="it is too large: 65,535 x 65,535 pixels with 1 samples"):
            read_dicom(made(Rows=65535, Columns=65535))
        with pytest.raises(InvalidInput, match="too large"):
            read_dicom(made(Rows=9000, Columns=9000, SamplesPerPixel=3, PhotometricInterpretation="RGB"))
        zeros = made(pydicom.uid.DeflatedExplicitVRLittleEndian, Rows=4000, Columns=4000, PixelData=bytes(32_000_000))
        assert len(zeros) < 100_000
        tracemalloc.reset_peak()
        with pytest.raises(InvalidInput, match="deflated DICOM file, which is not read"):
            read_dicom(zeros)
        assert tracemalloc.get_traced_memory()[1] - tracemalloc.get_traced_memory()[0] < 5_000_000
    finally:
        tracemalloc.stop()


def test_a_jpeg_within_has_the_limit_of_pictures(monkeypatch):
    file = io.BytesIO()
    Image.new("L", (400, 400)).save(file, "JPEG")
    frames = pydicom.encaps.encapsulate([file.getvalue()])
    data = made(pydicom.uid.JPEGBaseline8Bit, PixelData=frames, BitsAllocated=8, BitsStored=8, HighBit=7)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100_000)  # of 160,000, although the file says 2 x 4
    with pytest.raises(InvalidInput, match="exceeds limit of 100000 pixels"):
        read_dicom(data)


def test_several_frames_count_as_the_one_that_is_shown(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", PIXELS.size)
    assert read_dicom(made(NumberOfFrames=3, PixelData=PIXELS.tobytes() * 3)).frames == 3


def test_values_that_are_no_numbers_are_refused():
    with pytest.raises(InvalidInput, match="pixels that are no numbers"):
        read_dicom(made(RescaleSlope="1e308", RescaleIntercept="1e308"))


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_are_a_picture_or_an_error_that_says_so(seed: int):
    rng, refused = np.random.default_rng(seed), 0
    whole = made(
        pydicom.uid.DeflatedExplicitVRLittleEndian if seed == 3 else None,
        WindowCenter=["350", "40"],
        WindowWidth=["400", "80"],
        RescaleSlope="2",
        RescaleIntercept="-10",
        NumberOfFrames="1",
    )
    for turn in range(400):
        data = bytearray(whole)
        if turn % 2:
            del data[rng.integers(132, len(data)) :]
        else:
            for place in rng.integers(132, len(data), rng.integers(1, 6)):
                data[place] = rng.integers(0, 256)
        try:
            read_dicom(bytes(data))
        except InvalidInput:
            refused += 1
    assert refused > 100
