"""The side of the runner that lives among the tests: what runs inside the sandbox, in any Python with torch and pytest.

Imports the standard library, pytest, torch and `workers.spyre`, and nothing else: the environment it runs in has none
of the worker's packages, and what it imports is what tests can see. The worker's side uses `order` and `events` from
here, the two languages between them.
"""
