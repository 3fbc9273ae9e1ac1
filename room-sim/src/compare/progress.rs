//! The progress bar on the error output. It shows how far the runs are, and measures nothing.

use std::io::{self, IsTerminal, Write};

const WIDTH: usize = 32;

/// How far all runs together are.
#[derive(Debug)]
pub struct Progress {
    runs: usize,
    finished: usize,
    shown: String,
    is_terminal: bool,
}

impl Progress {
    /// Makes the bar for this number of runs.
    pub fn new(runs: usize) -> Self {
        let is_terminal = io::stderr().is_terminal();
        Self { runs, finished: 0, shown: String::new(), is_terminal }
    }

    /// Reports the completed part of the present run, 1 at most.
    pub fn tell(&mut self, name: &str, part: f64) {
        let bar = bar(self.finished, part, self.runs);
        self.show(format!("{bar} {}/{} {name}", self.finished + 1, self.runs));
    }

    /// Reports that the present run is finished.
    pub fn finish(&mut self) {
        self.finished += 1;
        if self.finished == self.runs {
            let bar = bar(self.finished, 0.0, self.runs);
            self.show(format!("{bar} {0}/{0} done", self.runs));
            eprintln!();
        }
    }

    fn show(&mut self, line: String) {
        if line == self.shown {
            return;
        }
        // What is not a terminal gets a line for each change of the bar and no control codes.
        let result = if self.is_terminal {
            write!(io::stderr(), "\r\x1b[2K{line}")
        } else if line.split(' ').next() != self.shown.split(' ').next() {
            writeln!(io::stderr(), "{line}")
        } else {
            Ok(())
        };
        // Nobody is told that nobody can be told.
        drop(result);
        self.shown = line;
    }
}

fn bar(finished: usize, part: f64, runs: usize) -> String {
    let done = (finished as f64 + part) / runs.max(1) as f64;
    let full = ((done * WIDTH as f64) as usize).min(WIDTH);
    format!("[{}{}]", "#".repeat(full), ".".repeat(WIDTH - full))
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn the_bar_grows_with_the_runs() {
        let check = |finished, part, want| {
            assert_eq!(bar(finished, part, 4).matches('#').count(), want);
        };
        check(0, 0.0, 0);
        check(0, 0.5, 4);
        check(3, 0.0, 24);
        check(4, 0.0, 32);
        check(4, 1.0, 32);
    }
}
