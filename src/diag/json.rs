//! Findings as versioned JSON.
