"""The paper, reproduced from one command; see `benchmarks.paper.__main__`."""
