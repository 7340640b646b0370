"""Journeys of single taps: where people got on, got off and changed, by their own taps alone."""
