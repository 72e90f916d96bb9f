//! Findings as a person reads them, in the look of rustc.
