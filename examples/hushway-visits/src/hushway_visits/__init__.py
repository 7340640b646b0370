"""Visits per stop and hour, as a release type of hushway."""
