"""Files of meshes for tests: the same solid in every format, and a robot that shows it."""

import struct

import numpy as np

CORNERS = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 3.0)])
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]  # of a brick, seen from outside
FACES = np.array([face for a, b, c, d in SIDES for face in ((a, b, c), (a, c, d))])
RED, BLUE = (1.0, 0.0, 0.0), (0.0, 0.25, 1.0)  # of the first two sides, and of the others


def triangles(points=CORNERS, faces=FACES):
    return np.asarray(points)[np.asarray(faces)]


def stl(corners=None):
    corners = triangles() if corners is None else corners
    records = [struct.pack("<12fH", 0, 0, 0, *face.reshape(-1), 7) for face in corners]
    return b"solid but binary".ljust(80) + struct.pack("<I", len(records)) + b"".join(records)


def stl_text(corners=None):
    corners = triangles() if corners is None else corners
    facets = [
        "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {x!r} {y!r} {z!r}\n" for x, y, z in face.tolist()) for face in corners
    ]
    return ("solid brick\n" + "".join(f"{facet}endloop\nendfacet\n" for facet in facets) + "endsolid brick\n").encode()


def obj():
    """Quadrilaterals, with textures and normals, counted from either end."""
    lines = ["mtllib brick.mtl", *(f"v {x} {y} {z}" for x, y, z in CORNERS), "vt 0 0", "vn 0 0 1", "usemtl first"]
    lines += ["f " + " ".join(f"{k + 1}/1/1" for k in side) for side in SIDES[:2]]
    lines += ["usemtl other", *("f " + " ".join(f"{k - 8}//1" for k in side) for side in SIDES[2:])]
    return "\n".join(lines).encode()


def mtl():
    return "\n".join(
        f"newmtl {name}\nKa 0 0 0\nKd {' '.join(map(str, kd))}" for name, kd in (("first", RED), ("other", BLUE))
    ).encode()


def _effect(name, colour):
    shade = f"<lambert><diffuse><color>{' '.join(map(str, colour))} 1</color></diffuse></lambert>"
    return f'<effect id="{name}-fx"><profile_COMMON><technique sid="t">{shade}</technique></profile_COMMON></effect>'


BIND = (
    '<bind_material><technique_common><instance_material symbol="a" target="#first"/>'
    '<instance_material symbol="b" target="#other"/></technique_common></bind_material>'
)
NODE = f'<node><instance_geometry url="#brick">{BIND}</instance_geometry></node>'


def dae(scene=NODE, metre="1", lists=None, more=""):
    """The brick as <triangles> and <polylist>, with normals between the indices of points."""
    flat = lambda indices: " ".join(f"0 {k}" for k in np.ravel(indices))  # noqa: E731
    inputs = '<input semantic="NORMAL" source="#n" offset="0"/><input semantic="VERTEX" source="#v" offset="1"/>'
    lists = lists or (
        f'<triangles material="a" count="4">{inputs}<p>{flat(FACES[:4])}</p></triangles>'
        f'<polylist material="b" count="4">{inputs}<vcount>4 4 4 4</vcount><p>{flat(SIDES[2:])}</p></polylist>'
    )
    points = " ".join(map(str, CORNERS.reshape(-1)))
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="x" meter="{metre}"/><up_axis>Y_UP</up_axis></asset>
<library_effects>{_effect("first", RED)}{_effect("other", BLUE)}</library_effects>
<library_materials><material id="first"><instance_effect url="#first-fx"/></material>
<material id="other"><instance_effect url="#other-fx"/></material></library_materials>
<library_geometries><geometry id="brick"><mesh><source id="p"><float_array id="pa" count="24">{points}</float_array>
<technique_common><accessor source="#pa" count="8" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>{lists}</mesh></geometry></library_geometries>{more}
<library_visual_scenes><visual_scene id="s">{scene}</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>""".encode()


FILES = {"binary.stl": stl, "text.STL": stl_text, "brick.obj": obj, "brick.dae": dae}


def inertial(mass):
    return f'<inertial><mass value="{mass}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def visual(geometry, extra=""):
    return f"<visual>{extra}<geometry>{geometry}</geometry></visual>"


def urdf(upper="", hand="", base="", more=""):
    """base - (revolute) - upper - (fixed) - hand, with these visuals."""
    return f"""<robot name="arm">{more}<link name="base">{base}</link>
<link name="upper">{inertial(2)}{upper}</link><link name="hand">{inertial(1)}{hand}</link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.5" rpy="0.3 0 0"/>
<axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="9" velocity="9"/></joint>
<joint name="flange" type="fixed"><parent link="upper"/><child link="hand"/><origin xyz="0.1 0.2 0.7" rpy="0 0.4 -0.2"/></joint></robot>"""
