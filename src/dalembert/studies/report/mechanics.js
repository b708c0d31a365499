// The arm's mechanics: the robot's own programs, and what a page needs around them. Knows neither the page nor the 3D view.
// Poses are rows of (3, 4) matrices, one after the other; matrices are flat, row by row.
"use strict";

const dot = (a, b) => { let s = 0; for (let k = 0; k < a.length; k += 1) s += a[k] * b[k]; return s; };
const rotatedBack = (R, v) => [0, 1, 2].map((c) => R[c] * v[0] + R[3 + c] * v[1] + R[6 + c] * v[2]);

function composed(A, B) {
  const C = new Float64Array(12);
  for (let r = 0; r < 12; r += 4) {
    for (let c = 0; c < 4; c += 1) C[r + c] = A[r] * B[c] + A[r + 1] * B[4 + c] + A[r + 2] * B[8 + c];
    C[r + 3] += A[r + 3];
  }
  return C;
}

const placed = (T, p) => [0, 4, 8].map((r) => T[r] * p[0] + T[r + 1] * p[1] + T[r + 2] * p[2] + T[r + 3]);

function jointMotion([turn, slide], q) {  // along z: screw = (turn, slide) per unit of q
  const c = Math.cos(turn * q), s = Math.sin(turn * q);
  return [c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, slide * q];
}

// A x = b with A (k, k) symmetric and positive, by Cholesky; both are overwritten.
function solve(A, b, k) {
  for (let i = 0; i < k; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      let s = A[k * i + j];
      for (let m = 0; m < j; m += 1) s -= A[k * i + m] * A[k * j + m];
      A[k * i + j] = i === j ? Math.sqrt(s) : s / A[k * j + j];
    }
    let s = b[i];
    for (let m = 0; m < i; m += 1) s -= A[k * i + m] * b[m];
    b[i] = s / A[k * i + i];
  }
  for (let i = k - 1; i >= 0; i -= 1) {
    for (let m = i + 1; m < k; m += 1) b[i] -= A[k * m + i] * b[m];
    b[i] /= A[k * i + i];
  }
  return b;
}

// Eigenvalues of a symmetric (3, 3) matrix, and eigenvectors as columns, by Jacobi's rotations.
function eigen(S) {
  const A = Array.from(S), V = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  const turn = (X, i, j, c, s) => { const [x, y] = [X[i], X[j]]; X[i] = c * x - s * y; X[j] = s * x + c * y; };
  for (let sweep = 0; sweep < 12; sweep += 1) {
    for (const [p, r] of [[0, 1], [0, 2], [1, 2]]) {
      const off = A[3 * p + r];
      if (!off) continue;
      const theta = (A[4 * r] - A[4 * p]) / (2 * off), t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
      const c = 1 / Math.hypot(t, 1), s = t * c;
      for (let k = 0; k < 3; k += 1) turn(A, 3 * k + p, 3 * k + r, c, s);
      for (let k = 0; k < 3; k += 1) turn(A, 3 * p + k, 3 * r + k, c, s);
      for (let k = 0; k < 3; k += 1) turn(V, 3 * k + p, 3 * k + r, c, s);
    }
  }
  return { values: [A[0], A[4], A[8]], vectors: V };
}

// The rotation vector that turns the axes of one pose into those of another.
function turnBetween(from, to) {
  const at = (r, c) => to[4 * r] * from[4 * c] + to[4 * r + 1] * from[4 * c + 1] + to[4 * r + 2] * from[4 * c + 2];
  const v = [at(2, 1) - at(1, 2), at(0, 2) - at(2, 0), at(1, 0) - at(0, 1)], s = Math.hypot(...v) / 2;
  const angle = Math.atan2(s, (at(0, 0) + at(1, 1) + at(2, 2) - 1) / 2);
  return v.map((x) => (s > 1e-9 ? (x * angle) / (2 * s) : x / 2));
}

function mechanics(spec, programs) {
  const n = spec.coupling ? spec.coupling.matrix[0].length : spec.chain.length, rest = new Float64Array(n), origin = [spec.base[3], spec.base[7], spec.base[11]];
  const turned = [0, 1, 2, 4, 5, 6, 8, 9, 10].map((k) => spec.base[k]);  // the rotation of the base
  const world = {
    load: 0, hand: 0, size: spec.gravity.size, tilt: 0, rubs: spec.rubs, stops: true, methods: {},
    bodies: new Float64Array(spec.bodies.flat()), gravity: new Float64Array(3), field: [0, 0, 0],
  };
  const program = (quantity) => programs[world.methods[quantity] || quantity];

  // What the programs take for the links that may carry: the chosen one together with a point mass at the hand; and gravity.
  function weigh() {
    spec.bodies.forEach((body, k) => world.bodies.set(body, 10 * k));
    const { body: chosen, R, p, at } = spec.hands[world.hand];
    const [mass, x, y, z, xx, xy, xz, yy, yz, zz] = spec.bodies[chosen], total = mass + world.load;
    if (world.load) {
      const c = rotatedBack(R, [at[3] - p[0], at[7] - p[1], at[11] - p[2]]);
      const middle = [x, y, z].map((own, k) => (mass * own + world.load * c[k]) / total), I = [xx, xy, xz, yy, yz, zz];
      for (const [m, place] of [[mass, [x, y, z]], [world.load, c]]) {
        const d = place.map((own, k) => own - middle[k]), square = dot(d, d);
        [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]].forEach(([r, s], k) => { I[k] += m * ((r === s ? square : 0) - d[r] * d[s]); });
      }
      world.bodies.set([total, ...middle, ...I], 10 * chosen);
    }
    const { down, side } = spec.gravity, [s, c] = [Math.sin(world.tilt), Math.cos(world.tilt)];
    world.field = down.map((own, k) => world.size * (c * own + s * side[k]));
    world.gravity.set(rotatedBack(turned, world.field));
  }

  const torques = (q, qd, qdd) => program("inverse_dynamics")(q, qd, qdd, world.bodies, world.gravity);
  const holding = (q) => torques(q, rest, rest);
  const massMatrix = (q) => programs.mass_matrix(q, world.bodies);
  const friction = (qd, load = rest) => (world.rubs && programs.friction ? programs.friction(qd, load) : rest);
  function hand(q) {
    const [pose, J, com] = programs[`hand${world.hand}`](q);
    return { pose, J, com, at: [pose[3], pose[7], pose[11]] };
  }

  // All joints from those that are independent, and back from forces: q = B y + b, B^T tau.
  const joints = ({ matrix, offset }, q) => matrix.map((row, i) => row.reduce((sum, x, j) => sum + x * q[j], offset[i]));
  const gathered = ({ matrix }, felt) => Float64Array.from(rest, (_, j) => matrix.reduce((sum, row, i) => sum + row[j] * felt[i], 0));

  function poses(y) {  // of all links, and the axes of the joints: z, then a point
    const links = [], axes = [], q = spec.coupling ? joints(spec.coupling, y) : y;
    spec.chain.forEach((link, i) => {
      const T = composed(link.parent < 0 ? spec.base : links[link.parent], link.before);
      axes.push([T[2], T[6], T[10], T[3], T[7], T[11]]);
      links.push(composed(composed(T, jointMotion(link.screw, q[i])), link.after));
    });
    return { links, axes };
  }

  function jointForces(axes, link, p, F) {  // J^T F of a force at the point p of a link
    const felt = new Float64Array(spec.chain.length);
    for (let i = link; i >= 0; i = spec.chain[i].parent) {
      const [zx, zy, zz, ox, oy, oz] = axes[i], [turn, slide] = spec.chain[i].screw, x = p[0] - ox, y = p[1] - oy, z = p[2] - oz;
      felt[i] = turn * ((zy * z - zz * y) * F[0] + (zz * x - zx * z) * F[1] + (zx * y - zy * x) * F[2])
        + slide * (zx * F[0] + zy * F[1] + zz * F[2]);
    }
    return spec.coupling ? gathered(spec.coupling, felt) : felt;
  }

  // What a push does to the joints: a force at a point of a link, or a spring from there to a target, as strong as is allowed.
  function pushed(q, push) {
    if (!push) return rest;
    const { links, axes } = poses(q);
    push.point = placed(links[push.link], push.local);
    if (push.target) {
      const pull = push.target.map((x, k) => spec.push.stiffness * (x - push.point[k])), size = Math.hypot(...pull);
      push.force = size > spec.push.most ? pull.map((x) => (x * spec.push.most) / size) : pull;
    }
    return jointForces(axes, push.link, push.point, push.force);
  }

  const beyond = (q, i) => Math.max(0, q[i] - (spec.limits[i][1] ?? Infinity)) + Math.min(0, q[i] - (spec.limits[i][0] ?? -Infinity));
  function accelerations(q, qd, tau, push) {
    const outside = pushed(q, push), lost = friction(qd), total = new Float64Array(n);
    for (let i = 0; i < n; i += 1) total[i] = tau[i] + outside[i] - lost[i] - (world.stops ? spec.stiff[i] * beyond(q, i) : 0);
    return program("forward_dynamics")(q, qd, total, world.bodies, world.gravity);
  }

  // One step of Moreau's, in which friction may hold joints; what pushes and stops do is taken in its middle.
  let guess = new Float64Array(2 * n);
  function stickingStep(state, h, tau, push) {
    const { q, qd } = state, middle = q.map((x, i) => x + (h / 2) * qd[i]), outside = pushed(middle, push);
    const total = Float64Array.from(tau, (x, i) => x + outside[i] - (world.stops ? spec.stiff[i] * beyond(middle, i) : 0));
    for (let again = 0; again < 24; again += 1) {  // hardly ever more than once: its iterations go on where they ended
      const [x, v, done, ended] = programs.sticking_step(q, qd, guess, total, h, again ? 1 : 0, world.bodies, world.gravity);
      guess = ended;
      if (done < 0) continue;
      q.set(x);
      qd.set(v);
      break;
    }
    state.t += h;
  }

  // One step of h seconds by Runge and Kutta's fourth-order method; the motors' forces are kept during it.
  function step(state, h, tau, push) {
    if (world.rubs && programs.sticking_step) { stickingStep(state, h, tau, push); return; }
    const { q, qd } = state, ahead = (x, v, t) => x.map((own, i) => own + t * v[i]);
    const a1 = accelerations(q, qd, tau, push), v2 = ahead(qd, a1, h / 2), a2 = accelerations(ahead(q, qd, h / 2), v2, tau, push);
    const v3 = ahead(qd, a2, h / 2), a3 = accelerations(ahead(q, v2, h / 2), v3, tau, push);
    const v4 = ahead(qd, a3, h), a4 = accelerations(ahead(q, v3, h), v4, tau, push);
    for (let i = 0; i < n; i += 1) {
      q[i] += (h / 6) * (qd[i] + 2 * v2[i] + 2 * v3[i] + v4[i]);
      qd[i] += (h / 6) * (a1[i] + 2 * a2[i] + 2 * a3[i] + a4[i]);
    }
    state.t += h;
  }

  function energy({ q, qd }) {
    const M = massMatrix(q), { com, at } = hand(q), above = (p) => -dot(world.field, p.map((x, k) => x - origin[k]));
    let kinetic = 0, elastic = 0;
    for (let i = 0; i < n; i += 1) {
      for (let j = 0; j < n; j += 1) kinetic += 0.5 * qd[i] * M[n * i + j] * qd[j];
      if (world.stops) elastic += 0.5 * spec.stiff[i] * beyond(q, i) ** 2;
    }
    const potential = spec.mass * above(Array.from(com)) + world.load * above(at) + elastic;
    return { kinetic, potential, total: kinetic + potential };
  }

  function mobility(q) {  // J M^-1 J^T of the hand's position (3, 3): how a unit force accelerates it, in every direction
    const { J } = hand(q), M = massMatrix(q), S = new Array(9).fill(0);
    for (let r = 0; r < 3; r += 1) {
      const x = solve(M.slice(), J.slice(n * (3 + r), n * (4 + r)), n);
      for (let k = 0; k < 3; k += 1) for (let i = 0; i < n; i += 1) S[3 * r + k] += J[n * (3 + k) + i] * x[i];
    }
    return S;
  }

  // Bring the hand to a place, and to an orientation if one is given, within the limits, from q, which is changed: damped least
  // squares; a joint at a limit that would go on stays there, and the others do its share.
  function reach(q, target, orientation, rounds = 30) {
    const size = spec.radius, weight = orientation ? (0.3 * size) ** 2 : 0;
    const inside = (x, i) => Math.min(spec.limits[i][1] ?? Infinity, Math.max(spec.limits[i][0] ?? -Infinity, x));
    const miss = () => {
      const { pose, J, at } = hand(q), e = [...(orientation ? turnBetween(pose, orientation) : [0, 0, 0]), ...target.map((x, k) => x - at[k])];
      return { e, J, cost: weight * dot(e.slice(0, 3), e.slice(0, 3)) + dot(e.slice(3), e.slice(3)) };
    };
    let now = miss(), trust = 1e-4, kept = q.slice(), best = now.cost, used = 0;
    for (; used < rounds && best > 1e-14 * size * size && trust < 10; used += 1) {
      const A = new Float64Array(n * n), b = new Float64Array(n);
      const far = Math.max(1, Math.hypot(...now.e.slice(3)) / (0.15 * size), Math.hypot(...now.e.slice(0, 3)) / 0.5);
      for (let i = 0; i < n; i += 1) {
        for (let r = 0; r < 6; r += 1) {
          const w = r < 3 ? weight : 1;
          b[i] += (w * now.J[n * r + i] * now.e[r]) / far;
          for (let j = 0; j <= i; j += 1) A[n * i + j] += w * now.J[n * r + i] * now.J[n * r + j];
        }
        A[n * i + i] += trust * size * size;
      }
      for (let i = 0; i < n; i += 1) {
        if (inside(kept[i] + 1e-9 * b[i], i) !== kept[i] || kept[i] + 1e-9 * b[i] === kept[i]) continue;
        for (let j = 0; j < n; j += 1) A[n * Math.max(i, j) + Math.min(i, j)] = i === j ? 1 : 0;
        b[i] = 0;
      }
      solve(A, b, n).forEach((x, i) => { q[i] = inside(kept[i] + x, i); });
      now = miss();
      if (now.cost < best) {
        [trust, best, kept] = [Math.max(1e-7, trust / 3), now.cost, q.slice()];
      } else {
        trust *= 4;
        q.set(kept);
        now = miss();
      }
    }
    q.set(kept);
    return { rounds: used, error: Math.sqrt(best) };
  }

  return { n, world, weigh, torques, holding, massMatrix, friction, hand, poses, pushed, beyond, step, energy, mobility, reach };
}
