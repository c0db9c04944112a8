"""gate-sidecar for Python: the client (`client`), and the verifier of evidence (`verify`)."""

__version__ = "0.1.0"
