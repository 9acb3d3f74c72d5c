"""The drivers: land, stream, backfill, reconcile, check. Everything that starts, waits or commits is here."""
