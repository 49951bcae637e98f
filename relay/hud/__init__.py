"""The results side of the protocol: what backends reported, as rows, figures and pages (crcr-protocol 1.7, 5)."""
