"""Alembic's environment for the record. Versions are written by hand or by autogenerate; none imports the models."""
