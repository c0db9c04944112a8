"""gate-sidecar for Python: the verifier of evidence."""
