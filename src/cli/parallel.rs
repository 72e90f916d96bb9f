//! The same work on many things, on all processors.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What `work` makes of each item, in the items' order. A single item is worked on where the caller is.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    // How many processors there are is itself a question to the host, and not asked for one item.
    if items.len() <= 1 {
        return items.iter().map(work).collect();
    }
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    if workers <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let some = || {
        while let Some((at, item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, items.get(i)?)))
        {
            let made = work(item);
            if let Ok(mut done) = done.lock() {
                done.push((at, made));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..workers {
            // Without a thread to be had the caller does it all.
            let _ = thread::Builder::new().spawn_scoped(scope, some);
        }
        some();
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once_and_in_order() {
        for count in [0, 1, 2, 1000] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(in_parallel(&items, |n| n * 2), items.iter().map(|n| n * 2).collect::<Vec<_>>());
        }
    }
}
