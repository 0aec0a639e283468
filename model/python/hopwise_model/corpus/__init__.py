"""Predictions for a corpus of recordings, as tables and a report, on one machine or on a Dask cluster."""
