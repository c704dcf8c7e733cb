"""The laboratory in the browser: a session's page, its panels, and the door that only its own windows pass."""
