"""How good rankings, extraction and curation are: data sets, runs, metrics, ablations."""
