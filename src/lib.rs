//! The Worker: reads the world, calls the core, performs the answer. Decides nothing.
