"""How the service is, in figures: for probes and for Prometheus.

What the record tells (queues, runs, workers) is read when it is asked for and is the same in every replica; what only a
process knows (its requests) is counted there. Decides nothing and writes nothing.
"""
