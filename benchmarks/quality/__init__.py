"""How good the rankings are: data sets, systems' runs, metrics, ablations; names, times and curation read by the rules."""
