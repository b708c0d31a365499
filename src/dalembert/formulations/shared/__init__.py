"""What several formulations share: axes, homogeneous matrices, articulated bodies, the filter. May import: algebra, model."""
