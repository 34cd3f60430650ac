"""Scored runs in an MLflow tracking server."""
