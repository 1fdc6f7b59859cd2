"""REST on a Unix socket: routers, identity, permissions, live stream."""
