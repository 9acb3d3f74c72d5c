"""The drivers: everything that starts, waits or commits is here."""
