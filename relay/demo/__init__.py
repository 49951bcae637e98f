"""The demonstration: a small upstream repository with a change that breaks the device, made on the spot.

It prepares what a real deployment gets from outside (a repository and a signed webhook) and knows the verdict the
service has to reach. It never reaches into the service: what it sends, it sends over HTTP.
"""
