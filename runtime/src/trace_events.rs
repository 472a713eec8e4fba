//! Writing Chrome's trace format, which Perfetto and others read: a JSON array of events.

use serde::Serialize;
use serde::ser::SerializeSeq;

/// Events as they go into the array. Processes and tracks are numbered by whoever writes.
pub(crate) struct Events<S>(pub S);

#[derive(Serialize)]
struct Event<'a, A> {
    name: &'a str,
    ph: &'static str,
    pid: u32,
    tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<A>,
}

#[derive(Serialize)]
struct Name<'a> {
    name: &'a str,
}

impl<S: SerializeSeq> Events<S> {
    /// Names a process.
    pub fn process(&mut self, pid: u32, name: &str) -> Result<(), S::Error> {
        self.named("process_name", pid, 0, name)
    }

    /// Names a track of a process.
    pub fn track(&mut self, pid: u32, tid: u32, name: &str) -> Result<(), S::Error> {
        self.named("thread_name", pid, tid, name)
    }

    /// Something that took time on a track, with what is known of it.
    pub fn span<A: Serialize>(
        &mut self,
        (pid, tid): (u32, u32),
        name: &str,
        begin_us: f64,
        us: f64,
        args: Option<A>,
    ) -> Result<(), S::Error> {
        let (ts, dur) = (Some(begin_us), Some(us));
        self.0.serialize_element(&Event { name, ph: "X", pid, tid, ts, dur, args })
    }

    fn named(
        &mut self,
        what: &'static str,
        pid: u32,
        tid: u32,
        name: &str,
    ) -> Result<(), S::Error> {
        let args = Some(Name { name });
        self.0.serialize_element(&Event {
            name: what,
            ph: "M",
            pid,
            tid,
            ts: None,
            dur: None,
            args,
        })
    }
}
