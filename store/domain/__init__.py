"""Documents, states and rules: pure functions over values, from the standard library alone."""
