"""Bookings: which GPUs, when there is room, what the rules allow. Pure: no clock, no database."""
