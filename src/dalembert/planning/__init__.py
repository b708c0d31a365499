"""Motions found by computation, and feedback along them. What users call has a module of its name; the others belong to

`inverse_kinematics`, `follow`: `solutions` of many targets, which `solving` finds by a `reaching_step` at a time;
`fastest`: `curves`, what `path_limits` say along them, `parametrize` in rounds of an `elimination`, why it is `impossible`,
and how it is drawn, the `phase_plane`;
`least_effort`: a `transcription` by splines, its `costs`, their least value in `effort`, and `bounded`;
`lqr` in `feedback`, `optimal_control`: `dynamic_programming`, with the programs of `riccati` and `slopes`;
`rollout`: its `adjoint`. All check what they are `given`.

May import: algebra, derived, engine, model, motion, native, quantities, simulation, trace.
"""
