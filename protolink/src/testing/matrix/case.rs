//! The ways in which a scenario is run.

use std::fmt;

/// How a run is driven.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::Reply;
/// use protolink::testing::matrix::{Matrix, MatrixPath};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = [Reply::text("Done.")];
/// let report =
///     Matrix::new("Go.", script).run(|model| Agent::builder("clerk").model(model)).await?;
/// let streamed =
///     report.cases().iter().filter(|case| case.combination.path == MatrixPath::Streamed);
/// assert!(streamed.count() > 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixPath {
    /// It is awaited.
    Plain,
    /// Its stream is read to the end.
    Streamed,
}

/// On which side of a commit the process dies.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::Reply;
/// use protolink::testing::matrix::{Matrix, Moment};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = [Reply::text("Done.")];
/// let report =
///     Matrix::new("Go.", script).run(|model| Agent::builder("clerk").model(model)).await?;
/// let crashes = report.cases().iter().filter_map(|case| case.combination.crash);
/// assert!(crashes.map(|crash| crash.moment).any(|moment| moment == Moment::After));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Nothing of the commit is kept.
    Before,
    /// The commit is kept, and nothing after it was done.
    After,
}

/// Where the process dies.
///
/// ```
/// use protolink::testing::matrix::{CrashPoint, Moment};
///
/// let crash = CrashPoint { commit: 2, moment: Moment::Before };
/// assert_ne!(crash, CrashPoint { commit: 2, moment: Moment::After });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashPoint {
    /// The commit, counted from 1.
    pub commit: u64,
    /// Before it or after it.
    pub moment: Moment,
}

impl CrashPoint {
    pub(super) fn at(commit: u64) -> [Self; 2] {
        [Self { commit, moment: Moment::Before }, Self { commit, moment: Moment::After }]
    }
}

/// One way to run a scenario.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::Reply;
/// use protolink::testing::matrix::Matrix;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = [Reply::text("Done.")];
/// let report =
///     Matrix::new("Go.", script).run(|model| Agent::builder("clerk").model(model)).await?;
/// assert_eq!(report.cases()[0].combination.to_string(), "plain in memory");
/// assert_eq!(
///     report.cases()[1].combination.to_string(),
///     "plain in memory, a crash before commit 1"
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Combination {
    /// How it is driven.
    pub path: MatrixPath,
    /// The store.
    pub store: String,
    /// Whether it pauses before every call.
    pub pause: bool,
    /// Where its first process dies.
    pub crash: Option<CrashPoint>,
}

impl Combination {
    pub(super) fn new(path: MatrixPath, store: &str, pause: bool, crash: Option<CrashPoint>) -> Self {
        Self { path, store: store.to_owned(), pause, crash }
    }
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = match self.path {
            MatrixPath::Plain => "plain",
            MatrixPath::Streamed => "streamed",
        };
        let pause = if self.pause { ", with pauses" } else { "" };
        write!(f, "{path} in {}{pause}", self.store)?;
        match self.crash {
            None => Ok(()),
            Some(CrashPoint { commit, moment: Moment::Before }) => write!(f, ", a crash before commit {commit}"),
            Some(CrashPoint { commit, moment: Moment::After }) => write!(f, ", a crash after commit {commit}"),
        }
    }
}
