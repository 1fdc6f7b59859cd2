"""Calendars to subscribe to: bookings as iCalendar documents."""
