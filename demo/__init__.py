"""The demo's data: real flights and made-up traffic, written as landing files. Needs no Spark."""
