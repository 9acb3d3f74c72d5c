"""One tick: frames in, frames out. No input or output, and no clock but the one that is passed in."""
