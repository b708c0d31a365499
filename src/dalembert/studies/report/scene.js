// The arm in 3D, and what happens to it: loads, forces, the ellipsoid of its inertia. Needs three.js.
"use strict";

function matrixOf(rows) {
  return new THREE.Matrix4().set(...rows, 0, 0, 0, 1);
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

// Paths, each a list of points, as thin tubes.
function trails(paths, spec, material) {
  const group = new THREE.Group();
  for (const path of paths) {
    const points = path.map((p) => new THREE.Vector3(...p));
    const apart = points.filter((p, k) => k === 0 || p.distanceTo(points[k - 1]) > 1e-4 * spec.radius);
    if (apart.length < 3) continue;
    group.add(new THREE.Mesh(new THREE.TubeGeometry(new THREE.CatmullRomCurve3(apart), 160, 0.1 * spec.thick, 8), material));
  }
  return group;
}

// An arrow along y of length 1, to be placed with set(from, direction, length, radius).
function arrow(material) {
  const group = new THREE.Group(), shaft = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 20), material);
  const head = new THREE.Mesh(new THREE.ConeGeometry(2.6, 1, 24), material);
  group.add(shaft, head);
  group.visible = false;
  group.put = (from, way, length, radius) => {
    group.visible = length > 1e-6 * radius;
    if (!group.visible) return;
    const tip = Math.min(0.45 * length, 6 * radius);
    group.position.set(...from);
    group.quaternion.setFromUnitVectors(Y, new THREE.Vector3(...way).normalize());
    shaft.scale.set(radius, length - tip, radius);
    shaft.position.y = (length - tip) / 2;
    head.scale.set(radius, tip, radius);
    head.position.y = length - tip / 2;
  };
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
  const at = (h) => new THREE.Vector3(0, h, 0), t = spec.thick;
  const stand = [rod(at(0), at(0.4 * t), 2.6 * t, materials.trim), rod(at(0.4 * t), at(spec.stand), 1.05 * t, materials.tube)];
  stand.forEach((mesh) => { mesh.castShadow = mesh.receiveShadow = true; });
  if (spec.stand > 0.5 * t) group.add(...stand);
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

// What is not the arm: the handle, the load, the ellipsoid, arrows of forces, and the trail of the hand while it falls.
function companions(spec, materials) {
  const sphere = new THREE.SphereGeometry(1, 40, 28), most = 300, line = new Float32Array(3 * most), path = new THREE.BufferGeometry();
  path.setAttribute("position", new THREE.BufferAttribute(line, 3));
  const made = {
    handle: new THREE.Mesh(sphere, materials.handle), load: new THREE.Mesh(sphere, materials.trim), ellipsoid: new THREE.Mesh(sphere, materials.ease),
    force: arrow(materials.force), weight: arrow(materials.weight), wake: new THREE.Line(path, materials.wake),
  };
  made.handle.scale.setScalar(1.5 * spec.thick);
  made.handle.renderOrder = 3;
  made.load.castShadow = true;
  made.load.visible = false;
  made.ellipsoid.matrixAutoUpdate = false;
  made.ellipsoid.renderOrder = 1;
  made.wake.frustumCulled = false;
  let trailed = 0;
  const drawn = () => { path.setDrawRange(0, trailed); path.attributes.position.needsUpdate = true; };
  made.forget = () => { trailed = 0; drawn(); };
  made.track = (p) => {
    if (trailed === most) line.copyWithin(0, 3);
    else trailed += 1;
    line.set(p, 3 * (trailed - 1));
    drawn();
  };
  made.forget();
  return made;
}

function createScene(canvas, spec, paths) {
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true, preserveDrawingBuffer: true }); // kept: for print
  renderer.outputEncoding = THREE.sRGBEncoding;
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFSoftShadowMap;
  const world = new THREE.Scene(), camera = new THREE.PerspectiveCamera(32, 1, 0.01 * spec.radius, 200 * spec.radius);
  const solid = (extra) => new THREE.MeshStandardMaterial({ roughness: 0.5, metalness: 0.08, ...extra });
  const clear = (opacity) => ({ transparent: true, opacity, depthWrite: false });
  const materials = {
    tube: solid(), skin: solid({ side: THREE.DoubleSide }), joint: solid(), trim: solid(), trail: new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.75 }),
    grid: new THREE.LineBasicMaterial({ transparent: true, opacity: 0.35 }), shadow: new THREE.ShadowMaterial({ opacity: 0.22 }),
    handle: new THREE.MeshBasicMaterial(clear(0.35)), ease: solid({ ...clear(0.34), side: THREE.DoubleSide, depthTest: false }), force: solid(), weight: solid(),
    wake: new THREE.LineBasicMaterial({ transparent: true, opacity: 0.85 }),
  };
  const links = [new THREE.Group(), ...Array.from({ length: spec.links }, () => new THREE.Group())];  // the base first
  const extra = companions(spec, materials);
  const layers = { com: [], trail: [trails(paths, spec, materials.trail), extra.wake], frame: [], ease: [extra.ellipsoid], weight: [extra.weight], skin: [], bones: [] };
  const hidden = new Set();
  links.forEach((group) => { group.matrixAutoUpdate = false; });
  for (const shape of spec.shapes) {
    const meshes = shapeMeshes(shape, materials);
    links[shape.link + 1].add(meshes);
    if (shape.kind === "com") { layers.com.push(meshes); continue; }
    meshes.traverse((mesh) => { mesh.castShadow = mesh.receiveShadow = true; mesh.userData.link = shape.link; });
    if (!spec.bare.includes(shape.link)) layers.bones.push(meshes);
  }
  for (const [link, mesh] of visualMeshes(spec, materials)) {
    mesh.userData.link = link;
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
  const { handle, load, ellipsoid, force, weight, wake } = extra;
  world.add(...links, layers.trail[0], handle, load, ellipsoid, force, weight, wake, floor(spec, materials), ...lights(spec));
  links[0].matrix.copy(matrixOf(spec.base));

  let waiting = false;
  const draw = () => { waiting = false; renderer.render(world, camera); };
  const redraw = () => { if (!waiting) { waiting = true; requestAnimationFrame(draw); } };
  const recolor = () => {
    const probe = canvas.parentElement.appendChild(document.createElement("i"));  // resolves colours as the style sheet means them
    for (const name of ["tube", "skin", "joint", "trim", "trail", "grid", "handle", "ease", "force", "weight", "wake"]) {
      probe.style.color = `var(--${name})`;
      materials[name].color.setStyle(getComputedStyle(probe).color).convertSRGBToLinear();
    }
    probe.remove();
    redraw();
  };
  const home = orbit(canvas, camera, spec, redraw);
  let first = true;
  new ResizeObserver(() => {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return;
    renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    renderer.setSize(width, height, false);
    camera.aspect = width / height;
    camera.updateProjectionMatrix();
    if (first) home();
    first = false;
    redraw();
  }).observe(canvas);
  recolor();

  const ray = new THREE.Raycaster(), plane = new THREE.Plane();
  const aim = (event) => {
    const box = canvas.getBoundingClientRect(), x = (event.clientX - box.left) / box.width, y = (event.clientY - box.top) / box.height;
    ray.setFromCamera(new THREE.Vector2(2 * x - 1, 1 - 2 * y), camera);
  };
  const seen = (name, visible) => visible && !hidden.has(name);
  return {
    recolor, reset: home, track: extra.track, forget: extra.forget,
    pose(poses) {  // (3, 4) rows of every link
      poses.forEach((rows, i) => links[i + 1].matrix.set(...rows, 0, 0, 0, 1));
      links.forEach((group) => { group.matrixWorldNeedsUpdate = true; });
      redraw();
    },
    live(on) { [handle, load, ellipsoid, force, weight].forEach((part) => { part.visible = on && part.visible; }); },
    hand(at, mass, heaviest) {
      handle.position.set(...at);
      load.position.set(...at);
      load.visible = mass > 0;
      load.scale.setScalar(1.6 * spec.thick * Math.cbrt(Math.max(mass, 1e-9) / heaviest));
    },
    weight(com, field, share) { weight.put(com, field, 0.42 * spec.radius * share, 0.16 * spec.thick); weight.visible = seen("weight", weight.visible); },
    force(push, most) {
      force.visible = false;
      if (push && push.force && push.point) force.put(push.point, push.force, (0.9 * spec.radius * Math.hypot(...push.force)) / most, 0.22 * spec.thick);
    },
    ellipsoid(at, { values, vectors: V }, largest) {
      const sizes = values.map((x) => 0.2 * spec.radius * Math.sqrt(Math.max(0, x) / largest) + 0.002 * spec.radius);
      ellipsoid.visible = seen("ease", sizes.every(Number.isFinite));
      const rows = [0, 1, 2].flatMap((r) => [V[3 * r] * sizes[0], V[3 * r + 1] * sizes[1], V[3 * r + 2] * sizes[2], at[r]]);
      ellipsoid.matrix.set(...rows, 0, 0, 0, 1);
      ellipsoid.matrixWorldNeedsUpdate = true;
    },
    layer(name, visible) {
      if (visible) hidden.delete(name); else hidden.add(name);
      layers[name].forEach((part) => { part.visible = visible; });
      if (name === "skin") layers.bones.forEach((part) => { part.visible = !visible; });
      redraw();
    },
    screen(p) {
      const v = new THREE.Vector3(...p).project(camera), box = canvas.getBoundingClientRect();
      return [box.left + ((v.x + 1) / 2) * box.width, box.top + ((1 - v.y) / 2) * box.height];
    },
    pick(event) {  // the link under the pointer, and the point of it
      aim(event);
      const shown = (part) => !part || (part.visible && shown(part.parent));
      const hit = ray.intersectObjects(links, true).find((h) => h.object.userData.link >= 0 && shown(h.object));
      if (!hit) return null;
      const { link } = hit.object.userData, local = hit.point.clone().applyMatrix4(links[link + 1].matrix.clone().invert());
      return { link, local: local.toArray(), point: hit.point.toArray() };
    },
    grab(point) { plane.setFromNormalAndCoplanarPoint(camera.getWorldDirection(new THREE.Vector3()), new THREE.Vector3(...point)); },
    onPlane(event) {
      aim(event);
      const found = ray.ray.intersectPlane(plane, new THREE.Vector3());
      return found && found.toArray();
    },
  };
}
