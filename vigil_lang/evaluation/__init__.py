"""Policies held against labelled runs: the figures of the paper's section 7 for a corpus of one's own (docs/eval.md)

`corpus` reads `CORPUS.toml`; `layouts` and `labels` say which runs there are and what is true of them. `judging` judges
them, with `ablation` and `baseline`, in processes that `evaluate` starts, and `figures` counts. `tables`, `screen` and
`published` write what that comes to.
"""
