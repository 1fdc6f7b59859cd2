"""The half without rights: API, control loop, engines."""
