//! What a misspelt word was most likely meant to be.

/// A name without what spellings differ in.
pub fn bare(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | '.' | ' ')).flat_map(char::to_lowercase).collect()
}

/// The most likely candidate for a misspelt word.
pub struct Guess<'a> {
    pub word: &'a str,
    /// No other word is as near, and it is near indeed.
    pub certain: bool,
}

/// The candidate that a word was surely or likely meant to be.
pub fn guess<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<Guess<'a>> {
    let length = word.chars().count();
    // A pasted novel is no misspelling, and the distance costs the product of both lengths.
    if length > 64 {
        return None;
    }
    let (mut best, mut rival): (Option<(usize, &str)>, usize) = (None, usize::MAX);
    for candidate in candidates {
        let distance = if bare(word) == bare(candidate) {
            usize::from(word != candidate)
        } else {
            strsim::osa_distance(&word.to_lowercase(), &candidate.to_lowercase())
        };
        match best {
            Some((least, _)) if distance >= least => rival = rival.min(distance),
            _ => {
                rival = best.map_or(usize::MAX, |(least, _)| least);
                best = Some((distance, candidate));
            }
        }
    }
    let (distance, word) = best?;
    let near = length.max(word.chars().count());
    // One slip in three letters is a likely typo; one in four, with no rival, is a sure one.
    (distance * 3 <= near && distance < rival)
        .then(|| Guess { word, certain: distance * 4 <= near && distance <= 2 })
}
