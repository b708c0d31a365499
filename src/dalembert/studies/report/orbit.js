// Looking around: the eye moves on a sphere about a target, by mouse, fingers and keys. Needs three.js.
"use strict";

// Returns the function that goes back to where everything is seen.
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
  return reset;
}
