"""The benchmarks: each a ratio in one run, with its bar and the raw figures."""
