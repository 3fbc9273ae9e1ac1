//! Checks the licences of dependencies against those that are allowed.

use std::collections::BTreeSet;

use spdx::{Expression, LicenseReq, ParseMode};

/// The allowed licences: they ask for no more than that a notice is kept.
const ALLOWED: [&str; 8] =
    ["0BSD", "Apache-2.0", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "Unicode-3.0", "Zlib"];

/// A package that may have another licence.
pub struct Exception {
    /// The package's name; with `*` at the end, the beginning of several names.
    pub package: &'static str,
    /// The licence as the package states it.
    pub licence: &'static str,
    /// Why that licence does no harm here.
    pub reason: &'static str,
}

pub const CRATES: &[Exception] = &[Exception {
    package: "ramhorns",
    licence: "MPL-2.0",
    reason: "asks only that its own files stay open, and they are used unchanged",
}];

const SHARP: &str = "draws images for miniflare's tests: on developers' machines only";
pub const NPM_PACKAGES: &[Exception] = &[
    Exception {
        package: "axe-core",
        licence: "MPL-2.0",
        reason: "checks pages in tests, unchanged, and is shipped to nobody",
    },
    Exception {
        package: "@cspell/dict-en-common-misspellings",
        licence: "CC BY-SA 4.0",
        reason: "a list that a test reads, unchanged, and is shipped to nobody",
    },
    Exception { package: "@img/sharp-*", licence: "LGPL-3.0-or-later", reason: SHARP },
    Exception {
        package: "@img/sharp-*",
        licence: "Apache-2.0 AND LGPL-3.0-or-later",
        reason: SHARP,
    },
    Exception {
        package: "@img/sharp-*",
        licence: "Apache-2.0 AND LGPL-3.0-or-later AND MIT",
        reason: SHARP,
    },
];

/// Says which packages (name, licence) may not be used, and which exceptions no package needs.
pub fn refused(packages: &[(&str, Option<&str>)], exceptions: &[Exception]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut needed = BTreeSet::new();
    for &(name, licence) in packages {
        let Some(licence) = licence else {
            problems.push(format!("{name} states no licence: find out, or do without it"));
            continue;
        };
        if is_allowed(licence) {
            continue;
        }
        match exceptions.iter().position(|exception| exception.covers(name, licence)) {
            Some(exception) => _ = needed.insert(exception),
            None => problems.push(format!(
                "{name} has the licence {licence}, which is not among {}: do without it, or add \
                 an exception with a reason in xtask/tests/dependencies/licences.rs",
                ALLOWED.join(", ")
            )),
        }
    }
    let unneeded = exceptions.iter().enumerate().filter(|(at, _)| !needed.contains(at));
    for (_, Exception { package, licence, reason }) in unneeded {
        problems.push(format!(
            "remove the exception of {package} with {licence} ({reason}): nothing needs it"
        ));
    }
    problems
}

fn is_allowed(licence: &str) -> bool {
    let allowed = |required: &LicenseReq| {
        let name = required.license.id().map(|id| id.name);
        required.addition.is_none() && name.is_some_and(|name| ALLOWED.contains(&name))
    };
    Expression::parse_mode(licence, ParseMode::LAX).is_ok_and(|parsed| parsed.evaluate(allowed))
}

impl Exception {
    fn covers(&self, name: &str, licence: &str) -> bool {
        let named = match self.package.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == self.package,
        };
        named && licence == self.licence
    }
}

#[test]
fn a_licence_must_be_satisfiable() {
    for licence in ["MIT", "MIT/Apache-2.0", "LGPL-2.1-or-later OR MIT", "(MIT OR 0BSD) AND ISC"] {
        assert!(is_allowed(licence), "{licence}");
    }
    for licence in ["GPL-3.0-only", "MIT AND MPL-2.0", "MIT WITH LLVM-exception", "a file", ""] {
        assert!(!is_allowed(licence), "{licence}");
    }
}

#[test]
fn exceptions_cover_what_they_name() {
    let exceptions = [
        Exception { package: "ours", licence: "MPL-2.0", reason: "" },
        Exception { package: "@a/*", licence: "LGPL-3.0-or-later", reason: "" },
    ];
    let good = [("ours", Some("MPL-2.0")), ("@a/b", Some("LGPL-3.0-or-later"))];
    assert_eq!(refused(&good, &exceptions), [""; 0]);
    let bad = [("other", Some("MPL-2.0")), ("@b/b", Some("LGPL-3.0-or-later")), ("none", None)];
    assert_eq!(refused(&bad, &exceptions).len(), 5, "three packages, two exceptions");
}
