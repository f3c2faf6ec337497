//! The process that kills, and looks at what is left.

use std::io::BufRead as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::check::{Broken, Watch};
use super::child::{LEFT_WAITING, Orders, READY, points_file};
use super::program::{Programs, Random};
use super::store::Lie;

const SIGKILL: i32 = 9;

/// More processes than any of these programs needs to end.
const PATIENCE: u64 = 60;

/// A folder with a store, on which one process after another works.
pub(crate) struct Folder {
    pub(crate) orders: Orders,
    watch: Watch,
    runtime: tokio::runtime::Runtime,
    /// Removes the folder when it goes.
    _place: TempDir,
}

/// How a process ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Killed,
    LeftWaiting,
    Done,
}

impl Folder {
    pub(crate) fn new(programs: Programs, runs: usize, lie: Option<Lie>) -> Self {
        // A killed process loses nothing that the system holds, so that memory is as good as a disk here, and faster.
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let place = place.expect("the system has a folder for temporary files");
        let orders = Orders { folder: place.path().to_owned(), programs, runs, generation: 0, die_at: None, lie };
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
        Self { orders, watch: Watch::default(), runtime, _place: place }
    }

    /// Starts the next process.
    fn start(&mut self, test: &str, die_at: Option<u64>) -> Child {
        self.orders.generation += 1;
        self.orders.die_at = die_at;
        let binary = std::env::current_exe().expect("the test knows its own file");
        let (key, value) = self.orders.variable();
        Command::new(binary)
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(key, value)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the test can be started again")
    }

    fn ended(child: Child) -> Ended {
        let output = child.wait_with_output().expect("a child can be waited for");
        Self::how(output.status).unwrap_or_else(|| {
            panic!("a child failed with {}: {}", output.status, String::from_utf8_lossy(&output.stderr))
        })
    }

    fn how(status: ExitStatus) -> Option<Ended> {
        match (status.code(), status.signal()) {
            (Some(0), _) => Some(Ended::Done),
            (Some(LEFT_WAITING), _) => Some(Ended::LeftWaiting),
            (_, Some(SIGKILL)) => Some(Ended::Killed),
            _ => None,
        }
    }

    /// Lets one process work until it ends by itself, or dies where it is told to.
    pub(crate) fn work(&mut self, test: &str, die_at: Option<u64>) -> Ended {
        let child = self.start(test, die_at);
        Self::ended(child)
    }

    /// Lets one process work for a time, counted from when it is ready to work or from its very start, and kills it.
    fn work_for(&mut self, test: &str, time: Duration, once_ready: bool) -> Ended {
        let mut child = self.start(test, None);
        if once_ready && let Some(said) = child.stdout.take() {
            // It says so, or it has ended.
            let _ = std::io::BufReader::new(said).skip_until(READY);
        }
        let begun = Instant::now();
        while begun.elapsed() < time && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_micros(200).min(time));
        }
        child.kill().expect("a child can be killed, and one that has ended is no error");
        Self::ended(child)
    }

    pub(crate) fn look(&mut self) -> Result<(), Broken> {
        self.runtime.block_on(self.watch.look(&self.orders))
    }

    /// Looks as if nothing had been seen before.
    pub(crate) fn look_anew(&mut self) -> Result<(), Broken> {
        self.watch = Watch::default();
        self.look()
    }

    /// Lets processes work until all runs have ended, and looks at the whole.
    fn finish(&mut self, test: &str) -> Result<(), Broken> {
        for _ in 0..PATIENCE {
            let ended = self.work(test, None);
            self.look()?;
            if ended == Ended::Done {
                return self.runtime.block_on(self.watch.look_at_the_end(&self.orders));
            }
        }
        panic!("{PATIENCE} processes did not end the runs of {:?}", self.orders)
    }

    /// How many places the last process passed.
    fn points(&self) -> u64 {
        let text = std::fs::read_to_string(points_file(&self.orders.folder)).expect("a child writes it when it ends");
        text.parse().expect("it is a number")
    }
}

/// Kills a process at every point that the programs pass, one folder a point; how many were killed, or where a promise
/// was broken. The processes after it go on from there.
pub(crate) fn kill_at_every_point(test: &str, programs: &Programs, lie: Option<Lie>) -> Result<u64, (u64, Broken)> {
    let runs = match programs {
        Programs::Listed(programs) => programs.len(),
        Programs::Random(_) => 1,
    };
    let mut kills = 0;
    // The first process passes some points and may leave while a person is asked; the next passes the others.
    for process in 0.. {
        let mut folder = Folder::new(programs.clone(), runs, None);
        let mut last = Ended::LeftWaiting;
        for _ in 0..=process {
            last = folder.work(test, None);
        }
        for point in 1..=folder.points() {
            let mut folder = Folder::new(programs.clone(), runs, lie);
            for _ in 0..process {
                folder.work(test, None);
            }
            let at = |broken| (point, broken);
            let ended = folder.work(test, Some(point));
            folder.look().map_err(at)?;
            if ended == Ended::Killed {
                kills += 1;
            } else {
                assert!(lie.is_some(), "a process of {:?} was not killed at point {point}", folder.orders.programs);
            }
            folder.finish(test).map_err(at)?;
        }
        if last == Ended::Done {
            break;
        }
    }
    Ok(kills)
}

/// Kills processes at random moments, on several folders at a time, and says how that went.
pub(crate) fn kill_at_random(test: &str, kills: usize) -> String {
    let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
    let begun = Instant::now();
    let told: Vec<(usize, usize, usize)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers)
            .map(|worker| {
                let share = kills / workers + usize::from(worker < kills % workers);
                scope.spawn(move || kill_some(test, worker as u64, share))
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let sum = |part: fn(&(usize, usize, usize)) -> usize| told.iter().map(part).sum::<usize>();
    let (killed, in_work, runs) = (sum(|told| told.0), sum(|told| told.1), sum(|told| told.2));
    assert_eq!(killed, kills);
    assert!(in_work * 4 > killed, "only {in_work} of {killed} were killed at work");
    format!("killed {killed} processes, {in_work} of them at work, in {runs} runs and {:?}", begun.elapsed())
}

/// How many processes one worker killed, how many of them had committed something, and how many runs they made.
fn kill_some(test: &str, worker: u64, kills: usize) -> (usize, usize, usize) {
    // Each process reads the whole conversation first, so that long ones would mostly be killed while they read.
    const RUNS_A_FOLDER: usize = 6;
    let seed = std::env::var("PROTOLINK_CRASH_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1_u64);
    let mut random = Random::new(seed.wrapping_mul(1_000).wrapping_add(worker));
    let (mut killed, mut in_work, mut runs) = (0, 0, 0);
    // As long as a process usually takes to do something; it follows what the machine can do.
    let mut span = Duration::from_millis(5);
    while killed < kills {
        let programs = random.next();
        let mut folder = Folder::new(Programs::Random(programs), RUNS_A_FOLDER, None);
        let tell = |killed: usize| move |broken: Broken| panic!("programs {programs}, kill {killed}: {broken}");
        while killed < kills {
            let before = folder.watch.progress();
            let part = u32::try_from(random.below(1_000)).unwrap_or_default();
            let once_ready = random.below(6) > 0;
            let ended = folder.work_for(test, span * part / 1_000, once_ready);
            folder.look().unwrap_or_else(tell(killed));
            let progressed = folder.watch.progress() > before;
            match ended {
                Ended::Done => {
                    span = span.mul_f64(0.9).max(Duration::from_millis(1));
                    break;
                }
                Ended::LeftWaiting => continue,
                Ended::Killed => killed += 1,
            }
            in_work += usize::from(progressed);
            if once_ready && !progressed {
                span = span.mul_f64(1.05).min(Duration::from_millis(500));
            }
        }
        folder.finish(test).unwrap_or_else(tell(killed));
        runs += RUNS_A_FOLDER;
    }
    (killed, in_work, runs)
}
