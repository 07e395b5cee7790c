"""The papers' evaluations, one file each: what is run, and what is computed from saved scores."""

from openworld.protocols.recognition import RecognitionSpec

PROTOCOLS = {"recognition": RecognitionSpec}

__all__ = ["PROTOCOLS", "RecognitionSpec"]
