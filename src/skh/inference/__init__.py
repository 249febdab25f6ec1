"""Inference beyond filtering: the past given all data, and the parameters of a model."""
