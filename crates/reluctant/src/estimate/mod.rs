//! The empirical-risk minimiser (to come).
