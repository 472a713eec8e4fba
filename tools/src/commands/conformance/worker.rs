//! Cases run in processes of their own, so that one that ends its process is one failure and not
//! the end.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use super::case::Case;
use super::{Args, Row, Verdict, run_case};
use crate::Failure;

/// How every case ended, in their order, run in so many processes at a time.
///
/// # Errors
/// A process that does not start.
pub(super) fn run_all(cases: &[Case], processes: usize) -> Result<Vec<Row>, Failure> {
    let next = Mutex::new(cases.iter().enumerate());
    let take = || next.lock().expect("nobody panics while taking").next();
    let work = || {
        let (mut rows, mut process) = (Vec::new(), None);
        while let Some((at, case)) = take() {
            rows.push((at, ask(&mut process, case)?));
        }
        Ok(rows)
    };
    let all = std::thread::scope(|scope| {
        let started: Vec<_> = (0..processes.max(1)).map(|_| scope.spawn(work)).collect();
        let ends = started.into_iter().map(|one| one.join().expect("a worker does not panic"));
        ends.collect::<Result<Vec<_>, Failure>>()
    })?;
    let mut rows: Vec<_> = all.into_iter().flatten().collect();
    rows.sort_by_key(|(at, _)| *at);
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// How a case ended in a process, which is started where there is none.
fn ask(process: &mut Option<Worker>, case: &Case) -> Result<Row, Failure> {
    let mut worker = match process.take() {
        Some(worker) => worker,
        None => Worker::start()?,
    };
    Ok(match worker.ask(case) {
        Some(row) => {
            *process = Some(worker);
            row
        }
        None => {
            let reason = format!("the compiler or the code ended its process ({})", worker.end());
            Row { suite: case.suite(), case: case.name(), verdict: Verdict::Failed, reason }
        }
    })
}

/// A process that runs cases.
struct Worker {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Worker {
    fn start() -> Result<Self, Failure> {
        let failed = |source| Failure::File { doing: "start", path: "weft".into(), source };
        let program = std::env::current_exe().map_err(failed)?;
        // The same arguments again, so that the worker compiles alike.
        let mut child = Command::new(program)
            .args(std::env::args_os().skip(1))
            .arg("--worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let (Some(to), Some(from)) = (to, from) else {
            unreachable!("both were asked to be pipes");
        };
        Ok(Self { child, to, from: BufReader::new(from) })
    }

    fn ask(&mut self, case: &Case) -> Option<Row> {
        writeln!(self.to, "{}", case.path.display()).ok()?;
        let mut line = String::new();
        self.from.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    fn end(mut self) -> String {
        drop(self.to);
        self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string())
    }
}

/// Runs the cases that standard input names, a row for each on standard output.
///
/// # Errors
/// None: a case that fails is a row.
pub(super) fn serve(args: &Args) -> Result<(), Failure> {
    for line in std::io::stdin().lines() {
        let Ok(line) = line else { break };
        let case = Case { path: PathBuf::from(line) };
        let (verdict, reason) = match run_case(&case, args) {
            Ok(()) => (Verdict::Passed, String::new()),
            Err(failure) if failure.is_unsupported() => (Verdict::Unsupported, failure.to_string()),
            Err(failure) => (Verdict::Failed, failure.to_string()),
        };
        let row = Row { suite: case.suite(), case: case.name(), verdict, reason };
        println!("{}", serde_json::to_string(&row).expect("a row is plain data"));
    }
    Ok(())
}
