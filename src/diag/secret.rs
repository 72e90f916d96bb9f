//! Credentials that someone wrote into an address, kept out of all that is shown.
//!
//! This looks at text, not at values: what is shown may be a broken file, a comment, or a message that quotes either. It
//! would rather hide too much than too little, but never moves a byte.

/// A text with the credentials of every address in it masked, byte for byte. None when it holds none.
#[must_use]
pub fn masked(text: &str) -> Option<String> {
    let mut out = text.as_bytes().to_vec();
    let mut found = false;
    for piece in pieces(text) {
        if let Some(secret) = secret(&text[piece.clone()]) {
            found = true;
            out[piece.start + secret.start..piece.start + secret.end].fill(b'*');
        }
    }
    // Whole characters were replaced, by ASCII.
    found.then(|| String::from_utf8_lossy(&out).into_owned())
}

type Range = std::ops::Range<usize>;

/// The text cut at line ends, double quotes, backticks and comments, as one address does not go on beyond them.
fn pieces(text: &str) -> Vec<Range> {
    let mut pieces = Vec::new();
    let (mut start, mut escaped) = (0, false);
    let mut spaced = true;
    for (at, c) in text.char_indices() {
        if spaced && (c == '#' || text[at..].starts_with("//")) {
            pieces.push(start..at);
            start = at;
        }
        spaced = c.is_whitespace();
        if matches!(c, '\n' | '`') || (c == '"' && !escaped) {
            pieces.push(start..at);
            start = at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    pieces.push(start..text.len());
    pieces.retain(|piece| text[piece.clone()].contains([':', '@']));
    pieces
}

/// What of a piece is a secret: the user and password before the last `@`, or what an address carries after them.
fn secret(piece: &str) -> Option<Range> {
    let address = address(piece);
    if let Some(at) = piece.rfind('@') {
        let digest = ["sha256:", "sha512:"].iter().any(|kind| piece[at + 1..].starts_with(kind));
        let word = || piece[..at].rfind(char::is_whitespace).map_or(0, |space| space + 1);
        let start = address.filter(|start| *start <= at).unwrap_or_else(word);
        let head = &piece[start..at];
        let bare = address.is_some() && !head.is_empty() && !head.contains('/');
        if !digest && (bare || has_password(head)) {
            return Some(start..at);
        }
    }
    let start = address?;
    let end = piece[start..].find(char::is_whitespace).map_or(piece.len(), |n| start + n);
    if let Some(query) = piece[start..end].find('?') {
        return (start + query + 1 < end).then_some(start + query + 1..end);
    }
    has_password(&piece[start..end]).then_some(start..end)
}

/// Where an address begins behind its scheme, however badly that is written.
fn address(piece: &str) -> Option<usize> {
    let behind = |scheme: &str| {
        let start = piece.find(scheme)? + scheme.len();
        Some(start + piece[start..].find(|c| !matches!(c, '/' | '\\' | ':')).unwrap_or(0))
    };
    let no_scheme =
        || piece.strip_prefix("//").filter(|rest| !rest.starts_with(char::is_whitespace)).map(|_| 2);
    behind("://").or_else(|| behind("https:")).or_else(|| behind("http:")).or_else(no_scheme)
}

/// Whether there is `name:password`, and not merely a host with its port, or an address in brackets.
fn has_password(text: &str) -> bool {
    if text.starts_with('[') {
        return false;
    }
    text.split_once(':').is_some_and(|(name, rest)| {
        let port = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        !name.is_empty()
            && !rest.starts_with(char::is_whitespace)
            && !rest.is_empty()
            && !port.bytes().all(|b| b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_nothing_moves() {
        for text in [
            "https://user:s3cr3t@h",
            "https://user:s3/cr3t@h",
            "https://user:s3?cr3t@h",
            "https://user:s3#cr3t@h",
            "https://user:s3 cr3t@h",
            "https:user:s3cr3t@h",
            "https:/user:s3cr3t@h",
            "https:\\\\user:s3cr3t@h",
            "//user:s3cr3t@h",
            "https://user:\\\"s3cr3t@h",
            "https://user:s3cr3t",
            "user:s3cr3t@h.example",
            "https:\\u{2f}\\u{2f}user:s3cr3t@h",
            "https://us'er:s3cr3t@h",
            "https://h.example/v2?token=s3cr3t",
            "https://s3cr3t@h.example/",
            "https://p\u{e4}ss:cr3t@h",
        ] {
            for whole in
                [format!("mirror \"{text}\" // x"), format!("- url: {text}"), format!("`{text}` is odd")]
            {
                let shown = masked(&whole).unwrap_or_else(|| panic!("{whole}"));
                assert!(!shown.contains("cr3t"), "{shown}");
                assert_eq!(shown.len(), whole.len());
            }
        }
    }

    #[test]
    fn what_is_no_secret_is_shown() {
        for text in [
            "mirror \"https://h.example:8443/v2\" // ask me@h.example",
            "see https://b.example/@x\n a: b@c",
            "url: https://h.example:8443 # a note: mail me@x",
            "sandbox \"registry.k8s.io/pause:3.10@sha256:00ff\"",
            "note \"10:30, somebody@home\"",
            "https://[::1]:5000/v2",
            "in YAML `a: b`",
        ] {
            assert_eq!(masked(text), None);
        }
    }
}
