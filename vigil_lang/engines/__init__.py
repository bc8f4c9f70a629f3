"""What requirements say of runs. Every engine has one meaning, that of `semantics/denotation.py`.

`interface` is what those who ask see; `indexed` decides recorded runs without a solver; `smt` has Z3 confirm each
verdict and gives the certificate.
"""
