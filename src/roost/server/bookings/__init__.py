"""Bookings in the control thread: what people ask for, what becomes due, what is stored of it."""
