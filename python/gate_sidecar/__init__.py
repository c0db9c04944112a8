"""gate-sidecar for Python: the client (`client`), and the verifier of evidence (`verify`)."""
