// The arm in 3D. Poses come from q by the same rule as in the library: before . motion along z . after. Needs three.js.
"use strict";

function matrixOf(rows) {
  return new THREE.Matrix4().set(...rows, 0, 0, 0, 1);
}

// Motion of a joint along z of its frame: screw = (turn, slide) per unit of q.
function jointMotion([turn, slide], q) {
  return new THREE.Matrix4().makeRotationZ(turn * q).setPosition(0, 0, slide * q);
}

// World poses of all links.
function chainPoses(spec, q) {
  const base = matrixOf(spec.base), poses = [];
  spec.chain.forEach((link, i) => {
    const pose = (link.parent < 0 ? base : poses[link.parent]).clone();
    poses.push(pose.multiply(matrixOf(link.before)).multiply(jointMotion(link.screw, q[i])).multiply(matrixOf(link.after)));
  });
  return poses;
}

const Y = new THREE.Vector3(0, 1, 0);

function rod(from, to, radius, material, tip = radius) {
  const along = new THREE.Vector3().subVectors(to, from);
  const mesh = new THREE.Mesh(new THREE.CylinderGeometry(tip, radius, along.length(), 28), material);
  mesh.position.addVectors(from, to).multiplyScalar(0.5);
  mesh.quaternion.setFromUnitVectors(Y, along.normalize());
  return mesh;
}

function ball(at, radius, material) {
  const mesh = new THREE.Mesh(new THREE.SphereGeometry(radius, 28, 20), material);
  mesh.position.copy(at);
  return mesh;
}

// The engineers' sign for a centre of mass: octants black and white in turn.
function massSign(radius) {
  const shape = new THREE.SphereGeometry(radius, 24, 16).toNonIndexed(), place = shape.attributes.position, colors = [];
  for (let k = 0; k < place.count; k += 3) {
    let sign = 1;
    for (const axis of ["getX", "getY", "getZ"]) {
      sign *= Math.sign(place[axis](k) + place[axis](k + 1) + place[axis](k + 2)) || 1;
    }
    const shade = sign > 0 ? 0.98 : 0.08;
    for (let c = 0; c < 9; c += 1) colors.push(shade);
  }
  shape.setAttribute("color", new THREE.Float32BufferAttribute(colors, 3));
  const material = new THREE.MeshBasicMaterial({ vertexColors: true, depthTest: false, transparent: true, opacity: 0.85 });
  const mesh = new THREE.Mesh(shape, material);
  mesh.renderOrder = 2;
  return mesh;
}

function triad(size) {
  const group = new THREE.Group();
  [[0xd62839, [1, 0, 0]], [0x2a9d4a, [0, 1, 0]], [0x2b6fdb, [0, 0, 1]]].forEach(([color, axis]) => {
    const material = new THREE.MeshStandardMaterial({ color, roughness: 0.6 });
    const end = new THREE.Vector3(...axis).multiplyScalar(size), neck = end.clone().multiplyScalar(0.72);
    group.add(rod(new THREE.Vector3(), neck, 0.05 * size, material), rod(neck, end, 0.13 * size, material, 0));
  });
  return group;
}

function shapeMeshes(shape, materials) {
  const points = (shape.points || []).map((p) => new THREE.Vector3(...p)), r = shape.radius, up = new THREE.Vector3(0, 0, 1);
  const made = new THREE.Group(), along = (h) => up.clone().multiplyScalar(h * r);
  if (shape.at) made.applyMatrix4(matrixOf(shape.at));
  if (shape.kind === "tube") {
    points.forEach((p, k) => {
      made.add(ball(p, r, materials.tube));
      if (k) made.add(rod(points[k - 1], p, r, materials.tube));
    });
  } else if (shape.kind === "joint") {
    made.add(rod(along(-1.25), along(1.25), r, materials.joint));
    made.add(rod(along(-1.4), along(-1.25), 0.8 * r, materials.trim), rod(along(1.25), along(1.4), 0.8 * r, materials.trim));
  } else if (shape.kind === "slide") {
    made.add(new THREE.Mesh(new THREE.BoxGeometry(2.1 * r, 2.1 * r, 3 * r), materials.joint));
  } else if (shape.kind === "com") {
    const sign = massSign(r);
    sign.position.copy(points[0]);
    made.add(sign);
  }
  return made;
}

// Looking around: the eye moves on a sphere about a target.
function orbit(canvas, camera, spec, redraw) {
  const up = new THREE.Vector3(...spec.up), home = new THREE.Vector3(...spec.eye), east = new THREE.Vector3();
  east.copy(home).addScaledVector(up, -home.dot(up)).normalize();
  const north = new THREE.Vector3().crossVectors(up, east), target = new THREE.Vector3(), touches = new Map();
  let turn, rise, distance, pinch = 0;
  const place = () => {
    rise = Math.min(1.5, Math.max(-1.5, rise));
    distance = Math.min(40 * spec.radius, Math.max(0.3 * spec.radius, distance));
    const eye = target.clone().addScaledVector(up, distance * Math.sin(rise));
    eye.addScaledVector(east, distance * Math.cos(rise) * Math.cos(turn)).addScaledVector(north, distance * Math.cos(rise) * Math.sin(turn));
    camera.position.copy(eye);
    camera.up.copy(up);
    camera.lookAt(target);
    redraw();
  };
  const reset = () => {
    target.set(...spec.middle);
    const [wide, high, deep] = spec.half, slope = 0.88 * Math.tan((camera.fov * Math.PI) / 360);
    [turn, rise, distance] = [0, Math.asin(home.dot(up)), Math.max(high / slope, wide / slope / camera.aspect) + 0.6 * deep];
    place();
  };
  const pan = (dx, dy) => {
    const scale = distance / canvas.clientHeight, right = new THREE.Vector3().setFromMatrixColumn(camera.matrix, 0);
    target.addScaledVector(right, -dx * scale).addScaledVector(new THREE.Vector3().setFromMatrixColumn(camera.matrix, 1), dy * scale);
  };
  canvas.addEventListener("pointerdown", (e) => { touches.set(e.pointerId, e); pinch = 0; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointermove", (e) => {
    const last = touches.get(e.pointerId);
    if (!last) return;
    touches.set(e.pointerId, e);
    if (touches.size === 2) {
      const [a, b] = [...touches.values()], apart = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
      if (pinch) distance *= pinch / apart;
      pinch = apart;
    } else if (e.buttons === 2 || e.shiftKey) {
      pan(e.clientX - last.clientX, e.clientY - last.clientY);
    } else {
      turn -= (e.clientX - last.clientX) * 0.008;
      rise += (e.clientY - last.clientY) * 0.008;
    }
    place();
  });
  ["pointerup", "pointercancel"].forEach((name) => canvas.addEventListener(name, (e) => touches.delete(e.pointerId)));
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("wheel", (e) => {
    if (document.activeElement !== canvas && !e.ctrlKey) return; // the page scrolls until the view is clicked
    e.preventDefault();
    distance *= Math.exp(e.deltaY * (e.deltaMode ? 0.03 : 0.001));
    place();
  }, { passive: false });
  canvas.addEventListener("keydown", (e) => {
    const step = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[e.key];
    const zoom = { "+": 0.9, "=": 0.9, "-": 1.1 }[e.key];
    if (!step && !zoom) return;
    e.preventDefault();
    if (step) [turn, rise] = [turn + step[0], rise + step[1]];
    distance *= zoom || 1;
    place();
  });
  reset();
  return { reset, place };
}

// The path of each tip as a thin tube.
function trails(spec, samples, material) {
  const group = new THREE.Group();
  for (const tip of spec.tips) {
    const at = matrixOf(tip.at), base = matrixOf(spec.base);
    const points = samples.map((q) => {
      const pose = tip.link < 0 ? base : chainPoses(spec, q)[tip.link];
      return new THREE.Vector3().setFromMatrixPosition(pose.clone().multiply(at));
    });
    const apart = points.filter((p, k) => k === 0 || p.distanceTo(points[k - 1]) > 1e-4 * spec.radius);
    if (apart.length < 3) continue;
    group.add(new THREE.Mesh(new THREE.TubeGeometry(new THREE.CatmullRomCurve3(apart), 160, 0.1 * spec.thick, 8), material));
  }
  return group;
}

function floor(spec, materials) {
  const group = new THREE.Group(), wide = 3 * spec.radius, decade = 10 ** Math.floor(Math.log10(wide / 5));
  const step = decade * [5, 2, 1].find((k) => k * decade <= wide / 5);
  const cells = Math.min(60, 2 * Math.ceil(wide / step));
  const grid = new THREE.GridHelper(cells * step, cells);
  grid.material = materials.grid;
  const ground = new THREE.Mesh(new THREE.PlaneGeometry(4 * wide, 4 * wide), materials.shadow);
  ground.rotation.x = -Math.PI / 2;
  ground.position.y = -0.002 * spec.radius;
  ground.receiveShadow = true;
  group.add(grid, ground);
  const base = new THREE.Vector3().setFromMatrixPosition(matrixOf(spec.base)), height = base.distanceTo(new THREE.Vector3(...spec.floor));
  const at = (h) => new THREE.Vector3(0, h, 0), t = spec.thick;
  const stand = [rod(at(0), at(0.4 * t), 2.6 * t, materials.trim), rod(at(0.4 * t), at(height), 1.05 * t, materials.tube)];
  stand.forEach((mesh) => { mesh.castShadow = mesh.receiveShadow = true; });
  if (!spec.visuals.length) group.add(...stand);
  group.quaternion.setFromUnitVectors(Y, new THREE.Vector3(...spec.up));
  group.position.set(...spec.floor);
  return group;
}

function lights(spec) {
  const sun = new THREE.DirectionalLight(0xffffff, 0.85), up = new THREE.Vector3(...spec.up), middle = new THREE.Vector3(...spec.middle);
  const eye = new THREE.Vector3(...spec.eye), side = new THREE.Vector3().crossVectors(up, eye).normalize();
  sun.position.copy(middle).addScaledVector(up, 4 * spec.radius).addScaledVector(side, -2 * spec.radius).addScaledVector(eye, 2 * spec.radius);
  sun.target.position.copy(middle);
  sun.castShadow = true;
  sun.shadow.mapSize.set(2048, 2048);
  sun.shadow.radius = 5;
  sun.shadow.bias = -0.002;
  Object.assign(sun.shadow.camera, { left: -2 * spec.radius, right: 2 * spec.radius, top: 2 * spec.radius, bottom: -2 * spec.radius, near: 0.1 * spec.radius, far: 12 * spec.radius });
  const sky = new THREE.HemisphereLight(0xffffff, 0x8a93a6, 0.62);
  sky.position.copy(up);
  return [sun, sun.target, sky];
}

// A mesh from 16-bit coordinates, corner by corner: edges sharper than about 35 degrees stay sharp. Each part has its own material.
function meshShape({ low, span, points, faces, parts }) {
  const whole = (text) => new Uint16Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const F = whole(faces), P = Float32Array.from(whole(points), (x, k) => low[k % 3] + (x * span) / 65535), around = new Map();
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

function createScene(canvas, spec, samples) {
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true, preserveDrawingBuffer: true }); // kept: for print
  renderer.outputEncoding = THREE.sRGBEncoding;
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFSoftShadowMap;
  const world = new THREE.Scene(), camera = new THREE.PerspectiveCamera(32, 1, 0.01 * spec.radius, 200 * spec.radius);
  const solid = (extra) => new THREE.MeshStandardMaterial({ roughness: 0.5, metalness: 0.08, ...extra });
  const materials = {
    tube: solid(), skin: solid({ side: THREE.DoubleSide }), joint: solid(), trim: solid(), trail: new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.75 }),
    grid: new THREE.LineBasicMaterial({ transparent: true, opacity: 0.35 }), shadow: new THREE.ShadowMaterial({ opacity: 0.22 }),
  };
  const links = [new THREE.Group(), ...spec.chain.map(() => new THREE.Group())];  // the base first
  const layers = { com: [], trail: [trails(spec, samples, materials.trail)], frame: [], skin: [], bones: [] };
  links.forEach((group) => { group.matrixAutoUpdate = false; });
  for (const shape of spec.shapes) {
    const meshes = shapeMeshes(shape, materials);
    links[shape.link + 1].add(meshes);
    if (shape.kind === "com") layers.com.push(meshes);
    else {
      meshes.traverse((mesh) => { mesh.castShadow = mesh.receiveShadow = true; });
      if (!spec.bare.includes(shape.link)) layers.bones.push(meshes);
    }
  }
  for (const [link, mesh] of visualMeshes(spec, materials)) {
    links[link + 1].add(mesh);
    layers.skin.push(mesh);
  }
  layers.bones.forEach((part) => { part.visible = false; });
  if (layers.skin.length) layers.com.forEach((part) => { part.visible = false; });
  for (const tip of spec.tips) {
    const axes = triad(3.2 * spec.thick);
    axes.applyMatrix4(matrixOf(tip.at));
    links[tip.link + 1].add(axes);
    layers.frame.push(axes);
  }
  world.add(...links, ...layers.trail, floor(spec, materials), ...lights(spec));
  links[0].matrix.copy(matrixOf(spec.base));

  let waiting = false;
  const redraw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; renderer.render(world, camera); });
  };
  const recolor = () => {
    const probe = canvas.parentElement.appendChild(document.createElement("i"));  // resolves colours as the style sheet means them
    for (const name of ["tube", "skin", "joint", "trim", "trail", "grid"]) {
      probe.style.color = `var(--${name})`;
      materials[name].color.setStyle(getComputedStyle(probe).color).convertSRGBToLinear();
    }
    probe.remove();
    redraw();
  };
  const look = orbit(canvas, camera, spec, redraw);
  let first = true;
  new ResizeObserver(() => {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return;
    renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    renderer.setSize(width, height, false);
    camera.aspect = width / height;
    camera.updateProjectionMatrix();
    if (first) look.reset();
    first = false;
    redraw();
  }).observe(canvas);
  recolor();
  return {
    poses: [],
    show(q) {
      this.poses = chainPoses(spec, q);
      this.poses.forEach((pose, i) => links[i + 1].matrix.copy(pose));
      links.forEach((group) => { group.matrixWorldNeedsUpdate = true; });
      redraw();
    },
    layer(name, visible) {
      layers[name].forEach((part) => { part.visible = visible; });
      if (name === "skin") layers.bones.forEach((part) => { part.visible = !visible; });
      redraw();
    },
    reset: look.reset,
    recolor,
  };
}
