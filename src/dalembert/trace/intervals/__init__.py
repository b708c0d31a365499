"""Programs over boxes of inputs: what encloses their results, how far rounding reaches, and the steps of branch and bound."""
