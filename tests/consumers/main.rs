//! What Purlin writes, read by the programs that it is for: containerd 2.1 and 2.4, runc, crun, the CNI plugins.
//!
//! They run only with `PURLIN_PEERS_TESTS=1`, as root, with the peers of tests/peers/build.sh in `$PURLIN_PEERS` (default
//! target/peers). Without the switch each test says in one line what is missing; with it, anything missing is a failure.
//! Every run is one sandbox (tests/peers/sandbox.sh), one at a time, and after each the test sees that no process and no
//! mount of it is left. inside.sh collects what the consumers do; all judging is done here.

mod cases;
mod cni;
mod drop_in;
mod misspelt;
mod own;
mod sandbox;
