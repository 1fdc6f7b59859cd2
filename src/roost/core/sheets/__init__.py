"""What a team's spreadsheet of bookings says: from plain cells to bookings, and back.

Pure: it must not know of files, of their formats, or of what is booked already.
"""
