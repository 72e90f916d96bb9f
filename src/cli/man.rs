//! `purlin man`

use super::{Arguments, Failure, Outcome, Session};
use clap::{Args, CommandFactory, ValueHint};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ManCommand {
    /// Where to write purlin.1 and a page per command; made when it is not there.
    ///
    /// Without it, purlin(1) goes to stdout.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

/// What all commands share, by section: a word, and what is to be said about it.
const SECTIONS: &[(&str, &[(&str, &str)])] = &[
    (
        "EXIT STATUS",
        &[
            ("0", "The command did its work, and there is nothing to tell: no error, no difference."),
            ("1", "The specs have errors; or there are differences, or changes that were only to be shown."),
            (
                "2",
                "The command could not do its work: a file is not there, a disk is full, an argument is wrong. \
                 For diff also: facts do not tell what stands in a place of the spec's.",
            ),
        ],
    ),
    (
        "ENVIRONMENT",
        &[
            ("NO_COLOR", "When it is set and not empty, there are no colours, unless --color asks for them."),
            ("TERM", "When it is dumb, likewise."),
            ("COLUMNS", "How wide findings may be; 120 without it."),
            ("GITHUB_STEP_SUMMARY", "The file that --format github appends its summary to."),
            ("PURLIN_COMPLETE", "Set by the script of purlin completion --dynamic, and by nothing else."),
        ],
    ),
    (
        "FILES",
        &[
            ("/etc/containerd", "config.toml, or a drop-in in conf.d, and certs.d with the registries."),
            ("/etc/cni/net.d", "A conflist per network."),
            ("/etc/cdi, /var/run/cdi", "Devices, as container runtimes read them."),
            (
                "/var/lib/purlin",
                "The ledger of what purlin made, and objects of the API server as manifests.",
            ),
        ],
    ),
];

/// All pages, each with the name of its file: first that of purlin itself.
fn pages() -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut root = Arguments::command();
    root.build();
    std::iter::once(&root).chain(root.get_subcommands()).map(page).collect()
}

fn page(command: &clap::Command) -> std::io::Result<(String, Vec<u8>)> {
    let version = concat!("purlin ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(version);
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut out)?;
        sections().to_writer(&mut out)?;
    } else {
        let mut roff = Roff::new();
        roff.control("SH", ["SEE ALSO"]);
        roff.text([bold("purlin"), roman("(1), for the exit status, the environment and the files")]);
        roff.to_writer(&mut out)?;
    }
    Ok((man.get_filename(), out))
}

fn sections() -> Roff {
    let mut roff = Roff::new();
    for (title, entries) in SECTIONS {
        roff.control("SH", [*title]);
        for (word, about) in *entries {
            roff.control("TP", []);
            roff.text([bold(*word)]);
            roff.text([roman(*about)]);
        }
    }
    roff
}

impl ManCommand {
    pub fn run(&self, session: &Session) -> Outcome {
        let pages = pages()?;
        let Some(dir) = &self.dir else {
            session.print(&String::from_utf8_lossy(&pages[0].1))?;
            return Ok(0);
        };
        let fail = |path: &std::path::Path, error: std::io::Error| {
            Failure(format!(
                "cannot write `{}`: {error}; name a directory that you may write to",
                path.display()
            ))
        };
        std::fs::create_dir_all(dir).map_err(|error| fail(dir, error))?;
        for (name, page) in pages {
            let path = dir.join(name);
            std::fs::write(&path, page).map_err(|error| fail(&path, error))?;
        }
        Ok(0)
    }
}
