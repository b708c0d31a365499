"""How robots look: meshes of every format, hostile ones too; simplification; where files are found; what goes into the page."""

import base64
import json
import os
import pickle
import struct
import subprocess
import sys
from functools import cache
from itertools import combinations
from pathlib import Path

import browsing
import meshes
import numpy as np
import pytest
from conftest import sweep, urdf_corpus
from corpus import robots_folder

import dalembert as da
from dalembert.storage import limits
from dalembert.studies.report import scene, write
from dalembert.studies.report.motion import follow
from dalembert.visuals import collada, find, read, simplify
from dalembert.visuals.collada import read_collada
from dalembert.visuals.obj import read_obj
from dalembert.visuals.pack import packed
from dalembert.visuals.read import FACES, Visuals, visuals
from dalembert.visuals.shapes import Box, Cylinder, Mesh, Sphere, extremes, mesh
from dalembert.visuals.simplify import simplified
from dalembert.visuals.stl import read_stl


def volume(shape):
    """By Gauss's theorem: right, and positive, only if all faces look outward."""
    a, b, c = np.moveaxis(shape.points[shape.faces], 1, 0)
    return float((a * np.cross(b, c)).sum() / 6)


def areas(shape):
    a, b, c = np.moveaxis(shape.points[shape.faces], 1, 0)
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def painted(shape):
    """The area of each colour."""
    return {colour: float(areas(shape)[shape.paint == k].sum()) for k, colour in enumerate(shape.colours)}


def loaded(folder, text, **files):
    for name, data in {"arm.urdf": text.encode(), **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return da.load(folder / "arm.urdf")


# --- formats ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", meshes.FILES)
def test_every_format_gives_the_same_solid(tmp_path, name):
    arm = loaded(
        tmp_path,
        meshes.urdf(upper=meshes.visual(f'<mesh filename="{name}"/>')),
        **{name: meshes.FILES[name](), "brick.mtl": meshes.mtl()},
    )
    looks = visuals(arm)
    assert not looks.missing
    (shape,) = (v.shape for v in looks.shapes)
    assert len(shape.points) == 8 and len(shape.faces) == 12
    assert volume(shape) == pytest.approx(6.0) and areas(shape).sum() == pytest.approx(22.0)
    expected = {None: 22.0} if "stl" in name.lower() else {meshes.RED: 12.0, meshes.BLUE: 10.0}
    assert painted(shape) == pytest.approx(expected)
    assert not any(array.flags.writeable for array in shape[:3])


def test_an_obj_file_takes_colours_only_from_its_own_folder(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "brick.mtl").write_bytes(meshes.mtl())
    outside = (tmp_path / "brick.mtl").as_posix()
    for name, expected in (("brick.mtl", 2), ("../brick.mtl", 1), (outside, 1), ("none.mtl", 1), ("x" * 500, 1), (".", 1)):
        (inner / "brick.mtl").write_bytes(meshes.mtl())
        text = meshes.obj().replace(b"mtllib brick.mtl", f"mtllib {name}".encode())
        (shape,) = (
            v.shape
            for v in visuals(loaded(inner, meshes.urdf(upper=meshes.visual('<mesh filename="b.obj"/>')), **{"b.obj": text})).shapes
        )
        assert len(shape.colours) == expected, name


def test_collada_places_units_and_copies():
    """The brick is put twice, once through another node: in millimetres, mirrored, turned and moved; the up axis is ignored."""
    scene_ = (
        f"<node><translate>10 0 0</translate><rotate>0 0 1 90</rotate><scale>1 1 -1</scale>{meshes.NODE}</node>"
        '<node><matrix>1 0 0 0 0 1 0 0 0 0 1 100 0 0 0 1</matrix><instance_node url="#again"/></node>'
    )
    shape = read_collada(
        meshes.dae(
            scene_,
            "0.001",
            more=f"<library_nodes>{meshes.NODE.replace('<node>', '<node id=#again#>').replace('#again#', chr(34) + 'again' + chr(34))}</library_nodes>",
        )
    )
    assert volume(shape) == pytest.approx(12e-9)
    a, b = shape.points[:8], shape.points[8:]
    if a[:, 0].min() < 5e-3:
        a, b = b, a
    x, y, z = meshes.CORNERS.T
    np.testing.assert_allclose(a, np.stack([10 - y, x, -z], axis=-1) / 1000, atol=1e-12)
    np.testing.assert_allclose(b, (meshes.CORNERS + np.array([0, 0, 100])) / 1000, atol=1e-12)


def test_collada_polygons_and_lines():
    inputs = '<input semantic="VERTEX" source="#v" offset="0"/>'
    sides = "".join(f"<p>{' '.join(map(str, side))}</p>" for side in meshes.SIDES)
    lists = f'<polygons count="6">{inputs}{sides}</polygons><lines count="1">{inputs}<p>0 1</p></lines>'
    assert volume(read_collada(meshes.dae(lists=lists))) == pytest.approx(6.0)


# --- hostile files ----------------------------------------------------------------------------------------------------------

BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
LOOP = '<library_nodes><node id="a"><instance_node url="#a"/></node></library_nodes>'
DOUBLING = "".join(f'<node id="n{k}"><instance_node url="#n{k + 1}"/><instance_node url="#n{k + 1}"/></node>' for k in range(40))
HUGE = b"x" * 80 + struct.pack("<I", 2**32 - 1)
HOSTILE = {
    "empty.stl": b"",
    "short.stl": b"\0" * 50,
    "count.stl": HUGE + meshes.stl()[84:],
    "cut.stl": meshes.stl()[:-20],
    "nan.stl": meshes.stl(np.full((1, 3, 3), np.nan)),
    "inf.stl": meshes.stl(np.array([[[0, 0, 0], [1, 0, 0], [0, np.inf, 0]]])),
    "far.stl": meshes.stl(np.array([[[0, 0, 0], [3e38, 0, 0], [0, 1, 0]]])),
    "point.stl": meshes.stl(np.ones((5, 3, 3))),
    "none.stl": meshes.stl(np.zeros((0, 3, 3))),
    "cut_text.stl": meshes.stl_text()[:-60],
    "words.stl": meshes.stl_text().replace(b"vertex 1.0", b"vertex one"),
    "nan_text.stl": meshes.stl_text().replace(b"vertex 1.0", b"vertex nan"),
    "empty.obj": b"",
    "zero.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2",
    "far.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4",
    "back.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf -1 -2 -4",
    "long.obj": b"v 0 0 0\nf 1 1 " + b"9" * 5000,
    "words.obj": b"v a b c",
    "nan.obj": b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3",
    "empty.dae": b"",
    "other.dae": b"<svg/>",
    "bomb.dae": meshes.dae().replace(b"<COLLADA", BOMB + b"<COLLADA", 1),
    "file.dae": meshes.dae().replace(b"<COLLADA", b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><COLLADA', 1),
    "cut.dae": meshes.dae()[:-200],
    "deep.dae": b"<COLLADA>" + b"<node>" * 5000,
    "loop.dae": meshes.dae('<node><instance_node url="#a"/></node>', more=LOOP),
    "doubling.dae": meshes.dae('<node><instance_node url="#n0"/></node>', more=f"<library_nodes>{DOUBLING}</library_nodes>"),
    "index.dae": meshes.dae().replace(b"0 7", b"0 70"),
    "negative.dae": meshes.dae().replace(b"0 7", b"0 -7"),
    "vcount.dae": meshes.dae().replace(b"4 4 4 4", b"4 4 4 9999999999"),
    "counts.dae": meshes.dae().replace(b"4 4 4 4", b"8 8 8 -8"),
    "offset.dae": meshes.dae().replace(b'offset="1"', b'offset="-1"'),
    "wide.dae": meshes.dae().replace(b'offset="1"', b'offset="1e12"'),
    "stride.dae": meshes.dae().replace(b'stride="3"', b'stride="0"'),
    "nan.dae": meshes.dae().replace(b"2.0", b"nan"),
    "place.dae": meshes.dae(22 * "<node><scale>1e15 1e15 1e15</scale>" + meshes.NODE + 22 * "</node>"),
    "unit.dae": meshes.dae(metre="0"),
    "source.dae": meshes.dae().replace(b'source="#p"', b'source="#none"'),
    "nothing.dae": meshes.dae(scene=""),
    "pipe.stl": None,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_meshes_are_told_and_replaced(tmp_path, name):
    text = meshes.urdf(upper=meshes.visual(f'<mesh filename="{name}"/>'), base=meshes.visual('<sphere radius="0.2"/>'))
    if HOSTILE[name] is None:
        if not hasattr(os, "mkfifo"):
            pytest.skip("needs pipes")
        os.mkfifo(tmp_path / name)
    looks = visuals(arm := loaded(tmp_path, text, **({name: HOSTILE[name]} if HOSTILE[name] is not None else {})))
    ((link, why),) = looks.missing
    assert link == 0 and "'upper'" in why and name in why
    assert [type(v.shape) for v in looks.shapes] == [Sphere] and looks.bare(arm) == [0]
    json.dumps(scene.scene(arm, follow(arm), looks=looks), allow_nan=False)


def test_a_bomb_of_copies_takes_no_memory(monkeypatch):
    """Copies count as often as they are shown, and so do points that no face uses."""
    monkeypatch.setattr(limits, "MESH_FACES", 100)
    shown = "".join(meshes.NODE for _ in range(9))
    for scene_ in (shown, f"<node>{shown}</node>"):
        with pytest.raises(da.Error, match="more than 100 faces"):
            read_collada(meshes.dae(scene_))
    one = b"".join(b"v 0 0 0\n" for _ in range(400))
    with pytest.raises(da.Error, match="more than 100 faces"):
        read_obj(one + b"f 1 2 3\n" * 101, lambda name: None)
    with pytest.raises(da.Error, match="more than 100 faces"):
        read_stl(meshes.stl(np.ones((101, 3, 3))))


def test_large_files_and_many_visuals_are_refused(tmp_path, monkeypatch):
    text = meshes.urdf(upper=3 * meshes.visual('<mesh filename="b.stl"/>'))
    arm = loaded(tmp_path, text, **{"b.stl": meshes.stl()})
    monkeypatch.setattr(limits, "MESH_BYTES", 100)
    assert "larger than" in visuals(arm).missing[0][1]
    monkeypatch.setattr(limits, "VISUALS", 2)
    assert "more than 2" in visuals(arm).missing[0][1]


def counted(monkeypatch, module, name):
    """How often a function is called from now on, in a list of its first arguments."""
    calls, given = [], getattr(module, name)

    def counting(*arguments, **options):
        calls.append(arguments[0])
        return given(*arguments, **options)

    monkeypatch.setattr(module, name, counting)
    return calls


def shown(*names):
    return "".join(meshes.visual(f'<mesh filename="{name}"/>') for name in names)


def test_a_file_is_read_once_whatever_its_names(tmp_path, monkeypatch):
    names = ["b.stl", "./b.stl", "a/../b.stl", "a/.././b.stl", "hard.stl", "a/hard.stl", (tmp_path / "b.stl").as_posix()]
    arm = loaded(tmp_path, meshes.urdf(upper=shown(*names)), **{"b.stl": meshes.stl()})
    (tmp_path / "a").mkdir()
    for link in ("hard.stl", "a/hard.stl"):
        os.link(tmp_path / "b.stl", tmp_path / link)
    reads = counted(monkeypatch, read, "read_stl")
    looks = visuals(arm)
    assert len(looks.shapes) == len(names) and len(reads) == 1
    assert len({id(v.shape) for v in looks.shapes}) == len(packed(looks.shapes)["meshes"]) == 1
    (tmp_path / "b.stl").write_bytes(b"solid")  # all of them
    del reads[:]
    told = [why for _, why in visuals(arm).missing]
    assert len(told) == len(names) and len(reads) == 1
    assert "b.stl: truncated" in told[0] and "hard.stl: truncated" in told[4]  # each by its own name


@pytest.mark.skipif(os.name == "nt", reason="needs symbolic links")
def test_a_symbolic_link_is_the_same_file(tmp_path, monkeypatch):
    arm = loaded(tmp_path, meshes.urdf(upper=shown("b.stl", "soft.stl", "folder/b.stl")), **{"b.stl": meshes.stl()})
    (tmp_path / "soft.stl").symlink_to("b.stl")
    (tmp_path / "folder").symlink_to(".")
    reads = counted(monkeypatch, read, "read_stl")
    assert len(visuals(arm).shapes) == 3 and len(reads) == 1


def test_an_obj_file_in_two_folders_has_the_colours_of_each(tmp_path):
    files = {"b.obj": meshes.obj(), "brick.mtl": meshes.mtl()}
    arm = loaded(tmp_path, meshes.urdf(upper=shown("b.obj", "a/b.obj", "a/../b.obj")), **files)
    (tmp_path / "a").mkdir()
    os.link(tmp_path / "b.obj", tmp_path / "a" / "b.obj")
    first, second, third = (v.shape for v in visuals(arm).shapes)
    assert len(first.colours) == 2 and second.colours == (None,) and third is first


def test_a_robot_with_many_files_bytes_or_faces(tmp_path, monkeypatch):
    """What is beyond a limit is told, and the work is not done."""
    files = {f"{k}.stl": meshes.stl() for k in range(5)}
    arm = loaded(tmp_path, meshes.urdf(upper=shown(*files)), **files)
    size = len(meshes.stl())
    for limit, most, allowed, message in (
        ("VISUALS_FILES", 3, 3, "more than 3 mesh files"),
        ("VISUALS_BYTES", 3 * size + 1, 3, "bytes in the mesh files of the robot"),
        ("VISUALS_FACES", 3 * 12, 3, "more than 36 faces in the meshes of the robot"),
        ("SHOWN_FACES", 3 * 12, 3, "more than 36 faces in all meshes and their scales"),
        ("MESH_FACES", 11, 0, "more than 11 faces"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(limits, limit, most)
            reads, simplifications = (counted(patch, read, name) for name in ("read_stl", "simplified"))
            looks = visuals(arm)
        assert len(looks.shapes) == allowed and len(looks.missing) == 5 - allowed, limit
        assert all(message in why for _, why in looks.missing)
        assert len(reads) == (allowed if limit in ("VISUALS_FILES", "VISUALS_BYTES") else 5)
        assert len(simplifications) == (5 if limit == "SHOWN_FACES" else allowed)


def test_one_mesh_in_many_scales_is_limited(tmp_path, monkeypatch):
    scales = "".join(meshes.visual(f'<mesh filename="b.stl" scale="1 1 {k}"/>') for k in range(1, 9))
    arm = loaded(tmp_path, meshes.urdf(upper=scales + shown(*["b.stl"] * 50)), **{"b.stl": meshes.stl()})
    monkeypatch.setattr(limits, "SHOWN_FACES", 5 * 12)
    reads, moves = counted(monkeypatch, read, "read_stl"), counted(monkeypatch, read, "moved")
    looks = visuals(arm)
    assert len(reads) == 1 and len(moves) == 5 and len(looks.missing) == 3 and len(looks.shapes) == 55


def test_libraries_of_colours_are_read_once_each_and_are_few(monkeypatch):
    """The last mention of a name counts."""
    asked = []

    def library(name):
        asked.append(name)
        return b"newmtl first\nKd " + (b"1 0 0" if name == "a.mtl" else b"0 0 1")

    text = meshes.obj().replace(b"mtllib brick.mtl", b"mtllib a.mtl\n" + b"mtllib b.mtl\nmtllib a.mtl\n" * 200)
    assert read_obj(text, library).colours == (meshes.RED, None) and asked == ["b.mtl", "a.mtl"]
    del asked[:]
    text = b"".join(b"mtllib %d.mtl\n" % k for k in range(limits.MESH_LIBRARIES + 1)) + meshes.obj()
    with pytest.raises(da.Error, match="more than 100 files of colours"):
        read_obj(text, library)
    assert not asked


def test_large_libraries_are_not_read(tmp_path, monkeypatch):
    arm = loaded(tmp_path, meshes.urdf(upper=shown("b.obj")), **{"b.obj": meshes.obj(), "brick.mtl": meshes.mtl()})
    monkeypatch.setattr(limits, "LIBRARY_BYTES", 10)
    (seen,) = visuals(arm).shapes
    assert seen.shape.colours == (None,)


@pytest.mark.parametrize(
    ("text", "limit", "most", "message"),
    [
        (b"v 0 0 0\n" * 30, "MESH_LINES", 20, "more than 20 lines"),
        (b"\r" * 30, "MESH_LINES", 20, "more than 20 lines"),
        (b"v 0 0 0\nf " + b"1 " * 300, "MESH_LINE", 200, "more than 200 characters in line 2"),
        (b"v 0 0 0\nf " + b"1 \\\n" * 300, "MESH_LINE", 200, "more than 200 characters in line 2"),
        (b"v 0 0 0\n" + b"f 1 1 1 1 1\n" * 30 + b"f wrong wrong wrong", "MESH_FACES", 20, "more than 20 faces"),
    ],
    ids=["lines", "returns", "polygon", "joined lines", "faces"],
)
def test_obj_files_are_counted_before_they_are_read(monkeypatch, text, limit, most, message):
    monkeypatch.setattr(limits, limit, most)
    with pytest.raises(da.Error, match=message):
        read_obj(text, lambda name: None)


def test_stl_texts_are_counted_before_they_are_read(monkeypatch):
    long = meshes.stl_text().replace(b"vertex 1.0", b"vertex 1." + b"0" * 500, 1)
    with pytest.raises(da.Error, match="a number has more than 100 characters"):
        read_stl(long)
    monkeypatch.setattr(limits, "MESH_FACES", 100)
    with pytest.raises(da.Error, match="more than 300 vertices"):
        read_stl(b"solid x\n" + b"vertex not even numbers\n" * 301 + b"endsolid x\n")


def test_pieces_of_texts_make_the_same_mesh(monkeypatch):
    whole = [read_stl(meshes.stl_text()), read_collada(meshes.dae())]
    monkeypatch.setattr("dalembert.visuals.stl.PIECE", 5)
    monkeypatch.setattr("dalembert.visuals.collada.PIECE", 7)
    pieces = [read_stl(meshes.stl_text()), read_collada(meshes.dae())]
    for a, b in zip(whole, pieces, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


EMPTY = '<triangles material="a"><input semantic="VERTEX" source="#v" offset="0"/></triangles>'


def many_bindings(count):
    """The same points, of no faces, shown in many colours, each of which makes a mesh of its own."""
    one = '<node><instance_geometry url="#brick"><instance_material symbol="a" target="#m{0}"/></instance_geometry></node>'
    paint = (
        '<effect id="e{0}"><a><diffuse><color>0.{0} 0 0</color></diffuse></a></effect>'
        '<material id="m{0}"><instance_effect url="#e{0}"/></material>'
    )
    colours, scene_ = ("".join(x.format(k) for k in range(count)) for x in (paint, one))
    text = meshes.dae(scene_, lists=EMPTY, more=f"<library_materials>{colours}</library_materials>")
    return text.replace(b"</float_array>", b" 1" * 3000 + b"</float_array>", 1)


def many_instances(count):
    """Instances of nothing, in a node that is shown many times."""
    inner = f'<library_nodes><node id="n">{count * """<instance_geometry url="#brick"/>"""}</node></library_nodes>'
    return meshes.dae(f'<node>{count * """<instance_node url="#n"/>"""}</node>', lists="<lines/>", more=inner)


def test_what_a_scene_shows_counts_as_often_as_it_is_read(monkeypatch):
    """A few kilobytes of COLLADA, and a few hundred thousand numbers or nodes."""
    lines = counted(monkeypatch, collada, "moved")
    with pytest.raises(da.Error, match="numbers and elements in all that the scene shows"):
        read_collada(many_bindings(500))
    assert len(lines) < 100
    del lines[:]
    with pytest.raises(da.Error, match="numbers and elements in all that the scene shows"):
        read_collada(many_instances(300))
    assert len(lines) < 10_000
    monkeypatch.setattr(limits, "MESH_COPIES", 10**9)
    del lines[:]
    with pytest.raises(da.Error, match="more than 100000 nodes"):
        read_collada(many_instances(600))
    assert len(lines) <= 100_000


@pytest.mark.parametrize(
    ("limit", "most", "message"),
    [
        ("MESH_ITEMS", 20, "more than 20 elements and attributes"),
        ("MESH_NUMBERS", 20, "more than 20 numbers and elements"),
        ("MESH_FACES", 5, "more than 5 faces"),
        ("MESH_COLOURS", 1, "more than 1 colours"),
    ],
)
def test_collada_files_are_counted_before_they_are_read(monkeypatch, limit, most, message):
    monkeypatch.setattr(limits, limit, most)
    made = counted(monkeypatch, collada, "fans") if limit == "MESH_NUMBERS" else []
    with pytest.raises(da.Error, match=message):
        read_collada(meshes.dae())
    assert not made


def test_want_of_memory_is_told(tmp_path, monkeypatch):
    arm = loaded(tmp_path, meshes.urdf(upper=shown("b.stl", "c.stl")), **{"b.stl": meshes.stl(), "c.stl": meshes.stl()})
    for error, message in ((MemoryError, "needs more memory than there is"), (RecursionError, "nested too deeply")):

        def fails(data, error=error):
            raise error

        monkeypatch.setattr(read, "read_stl", fails)
        told = [why for _, why in visuals(arm).missing]
        assert len(told) == 2 and all(name in why and message in why for name, why in zip(("b.stl", "c.stl"), told, strict=True))


def full_size():
    """Files that took minutes or gigabytes."""
    return {
        "long.stl": b"solid x\n" + b"vertex 1." + b"1" * 1_000_000 + b" 0 0\n" + b"vertex 1 0 0\n" * 300_000 + b"endsolid x\n",
        "lines.obj": b"\n" * (60 << 20),
        "polygon.obj": b"v 0 0 0\nf " + b"1 " * (30 << 20),
        "polygons.obj": b"v 0 0 0\n" + (b"f " + b"1 1 " * 4000 + b"\n") * 3500,
        "floats.dae": meshes.dae().replace(b"</float_array>", b" 1" * (30 << 20) + b"</float_array>", 1),
        "faces.dae": meshes.dae().replace(b"</p></triangles>", b" 0 1" * (15 << 20) + b"</p></triangles>", 1),
    }


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_hostile_meshes_of_full_size(tmp_path):
    """With 4 GB of addresses; where some took all of it, less than 700 MB are used."""
    files = full_size()
    loaded(tmp_path, meshes.urdf(upper=shown(*files)), **files)
    code = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
import dalembert as da
from dalembert.storage import limits
from dalembert.visuals.read import visuals
limits.VISUALS_BYTES *= 10
looks = visuals(da.load({str(tmp_path / "arm.urdf")!r}))
for _, why in looks.missing: print(why)
print(int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *told, size = done.stdout.splitlines()
    assert len(told) == len(files) and not any("memory" in why for why in told) and int(size) < 700


# --- simplification ---------------------------------------------------------------------------------------------------------


@cache
def ball(rings=60, colours=1):
    """A sphere of radius 1, halves of y in different colours."""
    theta, phi = np.meshgrid(np.linspace(0, np.pi, rings), np.linspace(0, 2 * np.pi, 2 * rings, endpoint=False), indexing="ij")
    points = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=-1).reshape(-1, 3)
    k = np.arange(rings * 2 * rings).reshape(rings, -1)
    a, b, c, d = k[:-1], np.roll(k, -1, axis=1)[:-1], k[1:], np.roll(k, -1, axis=1)[1:]
    faces = np.concatenate([np.stack([a, c, b], axis=-1).reshape(-1, 3), np.stack([b, c, d], axis=-1).reshape(-1, 3)])
    left = points[faces][:, :, 1].mean(axis=1) < 0
    return mesh(points, [(faces[left], meshes.RED), (faces[~left], meshes.BLUE)] if colours == 2 else [(faces, None)])


def edges(shape):
    """How many faces each edge has."""
    pairs = np.sort(np.concatenate([shape.faces[:, k] for k in ([0, 1], [1, 2], [2, 0])]), axis=1)
    return np.unique(pairs, axis=0, return_counts=True)[1]


def test_a_ball_stays_round_closed_and_right_side_out():
    few = simplified(ball(), 1000)
    assert 900 < len(few.faces) <= 1000 and len(ball().faces) > 13_000
    assert np.abs(np.linalg.norm(few.points, axis=1) - 1).max() < 0.01
    assert volume(few) == pytest.approx(4 / 3 * np.pi, rel=0.02)
    assert (edges(few) == 2).all()
    normals = np.cross(*(few.points[few.faces[:, k]] - few.points[few.faces[:, 0]] for k in (1, 2)))
    assert ((normals * few.points[few.faces].mean(axis=1)).sum(axis=1) > 0).all()


def test_planes_edges_and_holes_stay():
    """A plate of 1,600 faces with a square hole: the plane needs few of them, and the edges stay where they are."""
    n = 30
    grid = np.stack([*np.meshgrid(range(n + 1), range(n + 1), indexing="ij"), np.zeros((n + 1, n + 1))], axis=-1).reshape(-1, 3)
    k = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    a, b, c, d = k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]
    solid = np.ones((n, n), dtype=bool)
    solid[10:20, 10:20] = False
    plate = np.concatenate([np.stack([a, b, c], axis=-1)[solid], np.stack([a, c, d], axis=-1)[solid]])
    few = simplified(mesh(grid, [(plate, None)]), 40)
    assert len(few.faces) <= 40
    assert areas(few).sum() == pytest.approx(n * n - 100, rel=1e-3)
    assert np.abs(few.points[:, 2]).max() < 1e-9


def test_colours_keep_their_areas():
    before, few = painted(ball(colours=2)), simplified(ball(colours=2), 500)
    assert painted(few) == pytest.approx(before, rel=0.03) and set(few.colours) == {meshes.RED, meshes.BLUE}


def test_simplification_is_the_same_twice_and_leaves_small_meshes():
    first, again = simplified(ball(), 300), simplified(ball(), 300)
    assert all(np.array_equal(a, b) for a, b in zip(first[:3], again[:3], strict=True))
    brick = read_stl(meshes.stl())
    np.testing.assert_allclose(np.sort(simplified(brick).points, axis=0), np.sort(meshes.CORNERS, axis=0), atol=1e-12)


def test_what_is_no_surface_is_refused(monkeypatch):
    """All triangles between a few points, whose edges would contract one after another."""
    points = np.random.default_rng(0).random((150, 3))
    faces = np.array(list(combinations(range(150), 3)))[::100]
    with pytest.raises(da.Error, match="5513 faces on 150 points are no surface"):
        simplified(mesh(points, [(faces, None)]))
    monkeypatch.setattr(simplify, "PASSES", 2)
    rounds = counted(monkeypatch, simplify, "_round")
    with pytest.raises(da.Error, match="13920 faces cannot be simplified"):
        simplified(ball(), 20)
    assert 1 < len(rounds) < 10


def test_more_faces_than_can_be_contracted_are_merged(monkeypatch):
    monkeypatch.setattr(simplify, "DENSE", 5000)
    monkeypatch.setattr(simplify, "MANY", 6000)
    states = counted(monkeypatch, simplify, "_round")
    few = simplified(ball(), 1000)
    assert len(states[0].faces) <= 6000 and 500 < len(few.faces) <= 1000
    assert np.abs(np.linalg.norm(few.points, axis=1) - 1).max() < 0.1
    monkeypatch.setattr(simplify, "CROWDED", 1)  # any surface
    with pytest.raises(da.Error, match="are no surface"):
        simplified(ball(), 1000)


@pytest.mark.slow
def test_dense_meshes_and_small_targets():
    dense = ball(105)
    assert len(dense.faces) > simplify.DENSE
    few = simplified(dense, 1000)
    assert len(few.faces) <= 1000 and np.abs(np.linalg.norm(few.points, axis=1) - 1).max() < 0.02
    assert 0 < len(simplified(ball(), 20).faces) <= 20


# --- where files are --------------------------------------------------------------------------------------------------------


def test_packages_are_found_beside_above_and_through_ros(tmp_path, monkeypatch):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    arm = tmp_path / "work" / "my_arm" / "urdf" / "arm.urdf"
    arm.parent.mkdir(parents=True)
    for place in (
        "work/my_arm/meshes/a.stl",
        "work/other/b.dae",
        "ros/far/c.obj",
        "ros2/share/farther/d.stl",
        "f g.stl",
    ):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes(b"x")
    found = lambda name: find.mesh_file(name, arm).resolve().relative_to(tmp_path.resolve()).as_posix()  # noqa: E731
    assert found("package://my_arm/meshes/a.stl") == "work/my_arm/meshes/a.stl"
    assert found("package://renamed/meshes/a.stl") == "work/my_arm/meshes/a.stl"
    assert found("model://other/b.dae") == "work/other/b.dae"
    assert found("../meshes/a.stl") == found("meshes/a.stl") == "work/my_arm/meshes/a.stl"
    absolute = (tmp_path / "f g.stl").as_posix()
    assert found(absolute) == found(f"file://{absolute}") == found(f"file://{absolute}".replace(" ", "%20")) == "f g.stl"
    for name in ("package://far/c.obj", "package://farther/d.stl"):
        with pytest.raises(da.Error, match="ROS_PACKAGE_PATH"):
            find.mesh_file(name, arm)
    monkeypatch.setenv("ROS_PACKAGE_PATH", os.pathsep.join([str(tmp_path / "nowhere"), str(tmp_path / "ros")]))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ros2"))
    assert found("package://far/c.obj") == "ros/far/c.obj"
    assert found("package://farther/d.stl") == "ros2/share/farther/d.stl"
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros" / "far"))
    assert found("package://far/c.obj") == "ros/far/c.obj"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "package://",
        "package://arm",
        "package://arm/../../secret.stl",
        "package://../secret.stl",
        "/etc/passwd",
        "../../etc/passwd",
        "http://example.com/a.stl",
        "https://example.com/a.dae",
        "ftp://a/b.obj",
        "nul\0.stl",
        "x" * 5000 + ".stl",
        "x" * 300 + ".stl",
        "scene.blend",
        "folder.stl",
    ],
)
def test_tricks_with_paths_find_nothing(tmp_path, name):
    (tmp_path / "secret.stl").write_bytes(meshes.stl())
    (tmp_path / "a" / "arm" / "folder.stl").mkdir(parents=True)
    with pytest.raises(da.Error):
        find.mesh_file(name, tmp_path / "a" / "arm" / "arm.urdf")


# --- robots -----------------------------------------------------------------------------------------------------------------


def test_lumped_links_keep_their_place(tmp_path):
    """Corners of the brick in the world, from the file's own chain of origins, and from the moving link that carries the hand."""
    text = meshes.urdf(hand=meshes.visual('<mesh filename="b.stl" scale="0.1 0.2 -0.1"/>', '<origin xyz="0.3 0 0" rpy="0 0 0.5"/>'))
    arm = loaded(tmp_path, text, **{"b.stl": meshes.stl()})
    (seen,) = visuals(arm).shapes
    assert seen.link == 0 and arm.link_names == ("upper",) and volume(seen.shape) == pytest.approx(6 * 0.002)
    q = 0.8
    own = da.Pose.of((0, 0, 0.5), (0.3, 0, 0)).matrix @ da.Pose.of((0, 0, 0), (0, q, 0)).matrix
    own = own @ da.Pose.of((0.1, 0.2, 0.7), (0, 0.4, -0.2)).matrix @ da.Pose.of((0.3, 0, 0), (0, 0, 0.5)).matrix
    expected = (meshes.CORNERS * [0.1, 0.2, -0.1]) @ own[:3, :3].T + own[:3, 3]
    here = arm.poses([q])[0] @ seen.at.matrix
    order = lambda points: points[np.lexsort(points.round(6).T)]  # noqa: E731
    np.testing.assert_allclose(order(seen.shape.points @ here[:3, :3].T + here[:3, 3]), order(expected), atol=1e-7)
    (fixed,) = visuals(arm.lock({"shoulder": q})).shapes
    assert fixed.link == -1
    np.testing.assert_allclose(fixed.at.matrix, here, atol=1e-12)


def test_primitives_colours_and_materials(tmp_path):
    more = '<material name="steel"><color rgba="0.5 0.5 2 1"/></material>'
    upper = meshes.visual('<box size="1 2 3"/>', '<material name="steel"/>')
    upper += meshes.visual('<cylinder radius="0.1" length="2"/>', '<material name="later"/>')
    upper += meshes.visual('<sphere radius="0.3"/>', '<material name="glass"><color rgba="1 1 1 0"/></material>')
    hand = meshes.visual('<sphere radius="0.3"/>', '<material name="later"><color rgba="1 0 0 0.5"/></material>')
    hand += meshes.visual('<box size="1 1 1"/>', '<material name="unknown"/>') + meshes.visual(
        '<mesh filename="b.stl"/>', '<material name="steel"/>'
    )
    looks = visuals(loaded(tmp_path, meshes.urdf(upper, hand, more=more), **{"b.stl": meshes.stl()}))
    assert not looks.missing
    *plain, brick = looks.shapes
    steel, later = (0.5, 0.5, 1.0, 1.0), (1.0, 0.0, 0.0, 0.5)
    assert [(v.shape, v.colour) for v in plain] == [
        (Box((1, 2, 3)), steel),
        (Cylinder(0.1, 2), later),
        (Sphere(0.3), later),
        (Box((1, 1, 1)), None),
    ]
    assert brick.colour == steel and brick.shape.colours == (None,)
    colours = [(v["colour"], v.get("opacity")) for v in packed(looks.shapes)["visuals"]]
    assert colours == [("#8080ff", None), ("#ff0000", 0.5), ("#ff0000", 0.5), (None, None), ("#8080ff", None)]


@pytest.mark.parametrize(
    "geometry",
    ['<box size="1 2"/>', '<box size="-1 1 1"/>', '<sphere radius="0"/>', "<sphere/>", '<cylinder radius="1"/>', "<torus/>", "",
     '<mesh/>', '<mesh filename="none.stl"/>', '<mesh filename="b.stl" scale="0 1 1"/>', '<mesh filename="b.stl" scale="a"/>',
     '<mesh filename="b.stl" scale="1e308 1 1"/>'],
)  # fmt: skip
def test_what_cannot_be_drawn_is_told(tmp_path, geometry):
    text = meshes.urdf(upper=meshes.visual('<sphere radius="1"/>'), hand=meshes.visual(geometry))
    arm = loaded(tmp_path, text, **{"b.stl": meshes.stl()})
    looks = visuals(arm)
    assert len(looks.shapes) == 1 and looks.bare(arm) == [0]
    with pytest.warns(da.DataWarning, match=r"^arm.urdf: link 'hand': .*; plain shapes are drawn instead$"):
        write._looks(arm)


def test_which_links_get_our_shapes(tmp_path):
    arm = loaded(tmp_path, meshes.urdf())
    assert visuals(arm) == Visuals((), ()) and visuals(arm).bare(arm) == [-1, 0]
    assert visuals(loaded(tmp_path, meshes.urdf(upper=meshes.visual('<box size="1 1 1"/>')))).bare(arm) == []
    assert visuals(loaded(tmp_path, meshes.urdf(base=meshes.visual('<box size="1 1 1"/>')))).bare(arm) == [0]
    assert visuals(da.robot("panda")).bare(da.robot("panda")) == list(range(-1, da.robot("panda").n))
    (tmp_path / "arm.urdf").unlink()
    ((link, why),) = visuals(arm).missing
    assert link == -1 and "cannot be read again" in why


def test_dynamics_and_values_know_nothing_of_looks(tmp_path):
    """Loading opens no mesh; a robot with visuals equals the same without, in every kernel and in its hash."""
    from dalembert.engine.kernels import _content
    from dalembert.engine.registry import QUANTITIES

    text = meshes.urdf(upper=meshes.visual('<mesh filename="missing.stl"/>'))
    dressed = loaded(tmp_path, text)  # warnings are errors here
    plain = loaded(tmp_path / "other", meshes.urdf())
    assert dressed.file != plain.file and dressed == plain and hash(dressed) == hash(plain)
    assert all(_content(dressed, x) == _content(plain, x) for x in QUANTITIES.values())
    assert pickle.loads(pickle.dumps(dressed)).file == dressed.file == dressed.with_gravity((0, 0, 0)).file
    dressed.save(tmp_path / "arm.toml")
    assert da.load(tmp_path / "arm.toml") == dressed and da.load(tmp_path / "arm.toml").file == ""
    with pytest.raises(da.Error, match="the file of a robot"):
        da.Robot("x", (), file=3)


# --- what goes into the page ------------------------------------------------------------------------------------------------


def unpacked(entry):
    points = np.frombuffer(base64.b64decode(entry["points"]), "<u2").reshape(-1, 3) * entry["span"] / 65535 + entry["low"]
    faces = np.frombuffer(base64.b64decode(entry["faces"]), "<u2").reshape(-1, 3)
    return points, faces, np.repeat([colour or "" for colour, _ in entry["parts"]], [count for _, count in entry["parts"]])


def test_packed_meshes_are_the_same_meshes(tmp_path):
    text = meshes.urdf(upper=2 * meshes.visual('<mesh filename="b.dae" scale="0.3 0.3 0.3"/>'))
    looks = visuals(loaded(tmp_path, text, **{"b.dae": meshes.dae()}))
    data = packed(looks.shapes)
    (entry,) = data["meshes"]  # shown twice, kept once
    assert [v["mesh"] for v in data["visuals"]] == [0, 0]
    points, faces, colours = unpacked(entry)
    shape = Mesh(points, faces.astype(int), (colours == "#0040ff").astype(int), (meshes.RED, meshes.BLUE))
    assert volume(shape) == pytest.approx(6 * 0.027, rel=1e-4)
    assert painted(shape) == pytest.approx({meshes.RED: 12 * 0.09, meshes.BLUE: 10 * 0.09}, rel=1e-4)


def test_extremes_reach_as_far_as_the_points():
    from dalembert.visuals.shapes import Visual

    at = da.Pose.of((1, 2, 3), (0.4, 0.5, 0.6))
    for shape in (ball(), Box((1, 2, 3)), Cylinder(0.5, 2.0), Sphere(2.0)):
        found = extremes([Visual(-1, at, shape, None)])[-1]
        assert len(found) <= 26
    brick = read_stl(meshes.stl())
    found = extremes([Visual(3, at, brick, None)])[3]
    there = brick.points @ at.rotation.T + at.translation
    np.testing.assert_allclose(found.min(axis=0), there.min(axis=0))
    np.testing.assert_allclose(found.max(axis=0), there.max(axis=0))


def test_extremes_of_many_visuals_take_no_memory(monkeypatch):
    from dalembert.visuals import shapes

    seen = [shapes.Visual(-1, da.Pose.of((k, 0, 0), (0.1 * k, 0, 0)), ball(10), None) for k in range(9)]
    before = extremes(seen)[-1]
    monkeypatch.setattr(shapes, "MANY", 500)
    clouds = counted(monkeypatch, shapes, "_farthest")
    assert np.array_equal(extremes(seen)[-1], before)
    assert len(clouds) > 2 and max(sum(map(len, parts)) for parts in clouds) <= 500 + len(ball(10).points)


CORPUS, _ = urdf_corpus()
KNOWN = {
    "panda_description/urdf/panda.urdf": (10, 125_000),
    "ur_description/urdf/ur5_robot.urdf": (7, 90_000),
    "talos_data/robots/talos_reduced.urdf": (37, 450_000),
}


STORED = json.loads(Path(__file__).with_name("data").joinpath("pinocchio_visuals.json").read_text())
with_corpus = pytest.mark.skipif(not CORPUS, reason="needs example-robot-data")
taken_as_they_are = pytest.mark.filterwarnings("ignore::dalembert.errors.DataWarning")


@with_corpus
@taken_as_they_are
@pytest.mark.parametrize("name", sweep(list(KNOWN), quick=()))
def test_real_robots_are_small_enough(name):
    count, most = KNOWN[name]
    arm = da.load(CORPUS[name])
    looks = visuals(arm)
    data = packed(looks.shapes)
    assert not looks.missing and looks.bare(arm) == [] and len(data["meshes"]) == count
    assert max(sum(n for _, n in x["parts"]) for x in data["meshes"]) <= FACES
    assert len(json.dumps(data, separators=(",", ":"))) < most


@with_corpus
@taken_as_they_are
@pytest.mark.parametrize("name", sweep(list(STORED["robots"]), quick=()))
def test_every_visual_is_where_pinocchio_draws_it(name, monkeypatch):
    """All are found; the sum of their placements at the zero position agrees (shapes are stand-ins here: placing them needs none)."""
    monkeypatch.setattr(read, "_mesh", lambda place, content: read_stl(meshes.stl()))
    arm = da.load(CORPUS[name])
    looks = visuals(arm)
    assert not looks.missing and len(looks.shapes) == STORED["robots"][name]["count"]
    poses = [*arm.poses(np.zeros(arm.n), backend="numpy"), arm.base.matrix] if arm.n else [arm.base.matrix]
    placed = sum((poses[v.link] @ v.at.matrix for v in looks.shapes), np.zeros((4, 4)))[:3]
    np.testing.assert_allclose(placed.reshape(-1), STORED["robots"][name]["sum"], atol=1e-5)


@with_corpus
@pytest.mark.parametrize("part", sweep(range(20), quick=(3,)))
def test_meshes_have_the_bounds_that_pinocchio_finds(part):
    folder = robots_folder()
    for name, box in list(STORED["boxes"].items())[part::20]:
        shape = read._mesh(folder / name)
        used = shape.points[np.unique(shape.faces)]
        size = np.ptp(used, axis=0).max()
        np.testing.assert_allclose([*used.min(axis=0), *used.max(axis=0)], box, atol=1e-5 * size, err_msg=name)


@with_corpus
@taken_as_they_are
def test_missing_files_of_the_corpus_are_told():
    name = "romeo_description/urdf/romeo_laas_small.urdf"  # names files of another machine, of a format that is not drawn
    looks = visuals(arm := da.load(CORPUS[name]))
    assert len(looks.missing) == 20 and not looks.shapes and looks.bare(arm) == list(range(-1, arm.n))


# --- in a browser -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@taken_as_they_are
def test_the_page_shows_the_shapes_of_the_file(browser, tmp_path):
    """Boxes and meshes in their colours, and a click takes them away; what is not drawn is told."""
    pytest.importorskip("trimesh", reason="needs the study extra")
    green = '<material name="g"><color rgba="0 1 0 1"/></material>'
    upper = (
        meshes.visual('<box size="1 1 1"/>', green)
        + meshes.visual('<mesh filename="b.dae"/>')
        + meshes.visual('<mesh filename="c.dae"/>')
    )
    arm = loaded(tmp_path, meshes.urdf(upper), **{"b.dae": meshes.dae()})
    with browsing.visiting(browser) as go:
        tab = go(da.live(arm, tmp_path / "page.html"))
        dressed, words = seen(tab), tab.inner_text(".controls")
        tab.uncheck("[data-show=skin]")
        bare = seen(tab)
    assert "Not drawn: link 'upper': 'c.dae'" in words
    for name, rgb in {"green": [0, 1, 0], "red": [1, 0, 0], "blue": [0, 0, 1]}.items():
        pure = lambda p, rgb=rgb: int(((p / 255 - rgb) ** 2).sum(axis=-1).__lt__(0.5).sum())  # noqa: E731
        assert pure(dressed) > 200 + 2 * pure(bare), name


def seen(tab):
    """Pixels of the view, (h, w, 3)."""
    import io

    from matplotlib.image import imread

    return np.rint(imread(io.BytesIO(browsing.pixels(tab)), format="png")[..., :3] * 255)
