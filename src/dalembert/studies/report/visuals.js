// The shapes of the robot's own file: boxes, cylinders, spheres and packed meshes. Needs scene.js and charts.js.
"use strict";

// A mesh from 16-bit coordinates, corner by corner: edges sharper than about 35 degrees stay sharp. Each part has its own material.
function meshShape({ low, span, points, faces, parts }) {
  const F = new Uint16Array(bytesOf(faces)), P = Float32Array.from(new Uint16Array(bytesOf(points)), (x, k) => low[k % 3] + (x * span) / 65535), around = new Map();
  const corner = (i) => new THREE.Vector3().fromArray(P, 3 * i), areas = [], units = [], place = [], normals = [];
  for (let k = 0; k < F.length; k += 3) {
    const a = corner(F[k]), area = corner(F[k + 1]).sub(a).cross(corner(F[k + 2]).sub(a));
    areas.push(area);
    units.push(area.clone().normalize());
    for (let j = k; j < k + 3; j += 1) around.has(F[j]) ? around.get(F[j]).push(k / 3) : around.set(F[j], [k / 3]);
  }
  F.forEach((i, k) => {
    const own = Math.floor(k / 3), sum = new THREE.Vector3();
    for (const f of around.get(i)) if (units[f].dot(units[own]) > 0.82) sum.add(areas[f]);
    place.push(P[3 * i], P[3 * i + 1], P[3 * i + 2]);
    normals.push(...(sum.lengthSq() ? sum.normalize() : units[own]).toArray());
  });
  const shape = new THREE.BufferGeometry();
  shape.setAttribute("position", new THREE.Float32BufferAttribute(place, 3));
  shape.setAttribute("normal", new THREE.Float32BufferAttribute(normals, 3));
  let start = 0;
  parts.forEach(([, count], k) => { shape.addGroup(3 * start, 3 * count, k); start += count; });
  return shape;
}

// What the robot's own file shows: a list of [link, mesh]. A mesh's own colours come first, then the visual's, then the page's.
function visualMeshes(spec, materials) {
  const shapes = spec.meshes.map(meshShape), made = new Map();
  const paint = (colour, opacity = 1) => {
    if (colour === null && opacity === 1) return materials.skin;
    const key = `${colour} ${opacity}`;
    if (!made.has(key)) {
      const material = materials.skin.clone();
      if (colour) material.color.setStyle(colour).convertSRGBToLinear().multiplyScalar(0.75);  // white keeps its shades
      made.set(key, Object.assign(material, { opacity, transparent: opacity < 1 }));
    }
    return made.get(key);
  };
  return spec.visuals.map(({ link, at, mesh, box, cylinder, sphere, colour, opacity }) => {
    let shape, material = paint(colour, opacity);
    if (box) shape = new THREE.BoxGeometry(...box);
    else if (cylinder) shape = new THREE.CylinderGeometry(cylinder[0], cylinder[0], cylinder[1], 40).rotateX(Math.PI / 2);
    else if (sphere) shape = new THREE.SphereGeometry(sphere, 40, 28);
    else {
      shape = shapes[mesh];
      material = spec.meshes[mesh].parts.map(([own]) => paint(own || colour, opacity));
    }
    const drawn = new THREE.Mesh(shape, material);
    drawn.applyMatrix4(matrixOf(at));
    drawn.castShadow = drawn.receiveShadow = true;
    return [link, drawn];
  });
}
