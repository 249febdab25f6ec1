"""Maps of ROS and CARMEN: cells, positions and damaged files."""

import numpy as np
import pytest

from real_data import real_data
from robot_files import binary_map, box_map, ros_map, wean_map
from skh.models import GridMap
from skh.robotics import read_carmen_map, read_map, read_ros_map

IMAGE = np.array([[254, 254, 205], [0, 254, 0]])  # top row first; 205: unknown


def test_a_ros_map_has_its_first_row_at_the_bottom(tmp_path):
    grid = read_map(ros_map(tmp_path, IMAGE, occupied_thresh=0.65, free_thresh=0.196))
    np.testing.assert_array_equal(grid.occupied, [[True, False, True], [False] * 3])
    np.testing.assert_array_equal(grid.free, [[False, True, False], [True, True, False]])
    assert (grid.resolution, grid.origin) == (0.05, (-1.0, -2.0))


def test_negate_raw_and_images_as_text(tmp_path):
    plain = read_ros_map(ros_map(tmp_path, IMAGE))
    text = "resolution: 0.05\norigin:\n- -1.0\n- -2.0\n- 0.0\nnegate: 1  # white is occupied\n"
    path = ros_map(tmp_path, 255 - IMAGE, text, mode="scale")
    np.testing.assert_array_equal(read_ros_map(path).occupied, plain.occupied)
    path = ros_map(tmp_path, np.where(IMAGE == 205, 255, np.where(IMAGE, 0, 100)), mode="raw")
    np.testing.assert_array_equal(read_ros_map(path).free, plain.free)
    rows = "\n".join(" ".join(str(v * 4) for v in row) for row in IMAGE)
    (tmp_path / "map.pgm").write_text(f"P2 3 2 # size\n1020\n{rows}\n")
    again = read_ros_map(ros_map_yaml(tmp_path))
    np.testing.assert_array_equal(again.occupied, plain.occupied)


def ros_map_yaml(folder, text="resolution: 0.05\norigin: [0, 0, 0]"):
    (folder / "map.yaml").write_text(f"image: 'map.pgm'\n{text}\n")
    return folder / "map.yaml"


def test_a_png_is_an_image_too(tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    pillow.fromarray(IMAGE.astype(np.uint8)).save(tmp_path / "map.png")
    (tmp_path / "map.yaml").write_text("image: map.png\nresolution: 0.1\norigin: [0, 0, 0]\n")
    np.testing.assert_array_equal(read_map(tmp_path / "map.yaml").occupied[0], [True, False, True])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("resolution: 0\norigin: [0, 0, 0]", "resolution must be a positive number, got 0"),
        ("origin: [0, 0, 0]", "resolution must be a positive number, got None"),
        ("resolution: 0.1\norigin: [0, 0, 1.57]", "origin must have a yaw of 0, got 1.57"),
        ("resolution: 0.1\norigin: [0, x, 0]", r"origin must be \[x, y, yaw\]"),
        ("resolution: 0.1\norigin: [0, 0, 0]\nnegate: 2", "negate must be 0 or 1, got 2"),
        ("resolution: 0.1\norigin: [0, 0, 0]\nmode: odd", "mode must be one of trinary"),
        ("resolution: 0.1\norigin: [0, 0, 0]\nfree_thresh: 0.9", "free_thresh must not be above"),
        ("resolution: 0.1\nno key here", "line 3 must be 'key: value'"),
        ("resolution: 0.1\nresolution: 0.2", "line 3: resolution is given twice"),
    ],
)
def test_a_wrong_yaml_file_is_refused_by_key_or_line(tmp_path, text, message):
    ros_map(tmp_path, IMAGE)
    with pytest.raises(ValueError, match=message):
        read_ros_map(ros_map_yaml(tmp_path, text))


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (b"P5\n3 2\n255\nabc", "cut short: it must have 3 x 2 pixels, got 3"),
        (b"P6\n3 2\n255\nabcabc", "must be a PGM image"),
        (b"P5\n3 2\n9\nabcabc", "must have pixels of at most 9, got 99"),
        (b"P2\n1 2\n255\n1 x", "pixels that are whole numbers, got b'x'"),
        (b"P5\n0 2\n255\n", "must have a width, a height"),
        (
            b"P5\n3 2\n255\n" + 6 * b"\xcd",
            "must have occupied cells, got none of 3 x 2: 0 are free",
        ),
    ],
)
def test_a_damaged_image_is_refused(tmp_path, image, message):
    (tmp_path / "map.pgm").write_bytes(image)
    with pytest.raises(ValueError, match=message):
        read_ros_map(ros_map_yaml(tmp_path))


def test_a_missing_image_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"image must be a file, got 'map.pgm'"):
        read_ros_map(ros_map_yaml(tmp_path))


@pytest.mark.parametrize("free_is_one", [True, False])
def test_a_carmen_text_tells_free_cells_by_their_number(tmp_path, free_is_one):
    occupied = box_map()
    unknown = np.zeros_like(occupied)
    unknown[5, 5:9] = True
    path = wean_map(tmp_path / "map.dat.gz", occupied, unknown, free_is_one)
    grid = read_map(path)
    np.testing.assert_array_equal(grid.occupied, occupied)
    np.testing.assert_array_equal(grid.free, ~occupied & ~unknown)
    assert grid.resolution == pytest.approx(0.1)
    other = read_carmen_map(path, values="occupied" if free_is_one else "free")
    np.testing.assert_array_equal(other.occupied, grid.free)


@pytest.mark.parametrize("kind", ["f", "d"])
@pytest.mark.parametrize("named", [b"", b"floor 1"])
def test_a_binary_carmen_map(tmp_path, kind, named):
    occupied = box_map()
    p = np.where(occupied, 0.9, 0.1)
    p[3, 4] = -1.0
    grid = read_map(binary_map(tmp_path / "map.cmf.gz", p, 0.2, kind, named))
    np.testing.assert_array_equal(grid.occupied, occupied)
    assert not grid.free[3, 4]
    assert grid.resolution == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace("global_map[0]: 50 40", "global_map[0]: 50 41"), "50 x 41 cells"),
        (lambda t: t.replace("global_map[0]: 50 40", "global_map[0]: 50"), "columns rows"),
        (lambda t: t.replace("resolution      ", "size      "), "robot_specifications->resolution"),
        (lambda t: t.replace("1.000", "1.500", 1), r"line 2, number 2 .* got 1.5"),
        (lambda t: t.replace("1.000", "what", 1), "line 6 must have numbers, got 'what'"),
        (lambda t: t[:-200], "must have 50 x 40 cells"),
        (lambda t: "hello", "must be a map"),
        (lambda t: t.replace("0.000", "-1"), "must have occupied cells, got none of 50 x 40: 1"),
        (lambda t: "P5 3 2 255 ", "give the yaml file beside it"),
    ],
)
def test_a_damaged_text_is_refused(tmp_path, change, message):
    path = wean_map(tmp_path / "map.dat", box_map())
    path.write_text(change(path.read_text()))
    with pytest.raises(ValueError, match=message):
        read_map(path)


def test_a_damaged_binary_map_is_refused(tmp_path):
    path = binary_map(tmp_path / "map.gz", np.full((5, 6), 0.5))
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.raises(ValueError, match="cannot be decompressed"):
        read_map(path)
    import gzip

    path.write_bytes(gzip.decompress(whole)[:-20])
    with pytest.raises(ValueError, match="must have 6 x 5 cells"):
        read_map(path)
    path.write_bytes(b"CARMENMAPFILEv020")
    with pytest.raises(ValueError, match="must have a chunk GRIDMAP"):
        read_map(path)


def test_free_poses_lie_in_free_cells_and_head_everywhere():
    occupied = box_map()
    free = ~occupied
    free[:20] = False
    grid = GridMap(occupied, 0.1, (-1.0, 2.0), free=free)
    poses = grid.sample_free(5_000, rng=0)
    column, row = ((poses[:, :2] - [-1.0, 2.0]) / 0.1).astype(int).T
    assert free[row, column].all()
    assert len(np.unique(row * 100 + column)) > 0.9 * free.sum()
    assert abs(np.exp(1j * poses[:, 2]).mean()) < 0.05


def test_free_cells_are_checked():
    occupied = box_map()
    with pytest.raises(ValueError, match="free must be false where occupied is true, got true at"):
        GridMap(occupied, 0.1, (0, 0), free=occupied)
    with pytest.raises(ValueError, match=r"free must have the shape of occupied, \(40, 50\)"):
        GridMap(occupied, 0.1, (0, 0), free=occupied[1:])
    nowhere = GridMap(occupied, 0.1, (0, 0), free=np.zeros_like(occupied))
    with pytest.raises(ValueError, match="free must have a free cell"):
        nowhere.sample_free(3)


def test_wean_hall_is_a_building():
    grid = read_map(real_data("wean_hall", "wean.dat.gz"))
    assert grid.occupied.shape == (800, 800)
    assert 20_000 < grid.occupied.sum() < 30_000 < grid.free.sum()
