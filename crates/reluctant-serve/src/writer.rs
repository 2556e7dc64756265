//! The thread that has the engine: it collects what has come in, does it, makes it durable by one sync, and answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::engine::{Answer, Engine, Refusal};
use crate::error::{Result, ServeError};

/// So many requests wait for the writer at most; more are turned away.
const QUEUE: usize = 4_096;
/// So many requests, those of batches counted one by one, make a group: whoever came first does not wait for ever.
const GROUP: usize = 1_024;
/// How often default rewards are looked for when nothing else happens.
const TICK: Duration = Duration::from_millis(200);

/// What is done with the engine, if it can do anything; it gives back how to answer once the group is durable, or has
/// failed.
type Work = Box<dyn FnOnce(Option<&mut Engine>) -> After + Send>;
type After = Box<dyn FnOnce(std::result::Result<(), String>) + Send>;

/// What the writer is told.
enum Message {
    Work(Work, usize),
    Stop,
}

/// How the writer is doing.
#[derive(Debug, Default)]
pub struct Health {
    /// Whether the last group became durable.
    pub failing: AtomicBool,
    /// Groups that became durable.
    pub groups: AtomicU64,
    /// Groups that did not.
    pub failures: AtomicU64,
    /// Requests in durable groups.
    pub requests: AtomicU64,
    /// Microseconds spent on groups, syncs included.
    pub busy: AtomicU64,
}

/// A way to the writer; there may be many.
#[derive(Clone, Debug)]
pub struct Handle {
    sender: SyncSender<Message>,
    health: Arc<Health>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// The engine refuses.
    Refused(Refusal),
    /// Too many wait already.
    Full,
    /// The service stops.
    Stopping,
}

impl Handle {
    /// Lets the writer do something, and answers once it is on the disk.
    pub async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Engine) -> Answer<T> + Send + 'static,
    ) -> std::result::Result<T, Lost> {
        self.ask_for(1, work).await
    }

    /// The same for a batch of so many requests.
    pub async fn ask_for<T: Send + 'static>(
        &self,
        requests: usize,
        work: impl FnOnce(&mut Engine) -> Answer<T> + Send + 'static,
    ) -> std::result::Result<T, Lost> {
        let (answer, answered) = oneshot::channel();
        let work: Work = Box::new(move |engine| {
            let done = engine.map(work);
            Box::new(move |durable: std::result::Result<(), String>| {
                let _ = answer.send(match (durable, done) {
                    (Ok(()), Some(done)) => done.map_err(Lost::Refused),
                    (Ok(()), None) => Err(Lost::Stopping),
                    (Err(cause), _) => Err(Lost::Refused(Refusal::Store(cause))),
                });
            })
        });
        match self.sender.try_send(Message::Work(work, requests)) {
            Ok(()) => answered.await.unwrap_or(Err(Lost::Stopping)),
            Err(TrySendError::Full(_)) => Err(Lost::Full),
            Err(TrySendError::Disconnected(_)) => Err(Lost::Stopping),
        }
    }

    /// How the writer is doing.
    pub fn health(&self) -> &Health {
        &self.health
    }
}

/// The writer's thread. It stops when it is told to, and does what had come in before.
#[derive(Debug)]
pub struct Writer {
    handle: Handle,
    thread: JoinHandle<Engine>,
}

impl Writer {
    /// Starts the thread.
    pub fn start(engine: Engine) -> Result<Self> {
        let (sender, receiver) = sync_channel(QUEUE);
        let health = Arc::new(Health::default());
        let seen = Arc::clone(&health);
        let run = move || run(engine, &receiver, &seen);
        let thread = std::thread::Builder::new().name("writer".to_owned()).spawn(run);
        let failed = |cause: std::io::Error| ServeError::Machine {
            action: "start the writer's thread".to_owned(),
            reason: cause.to_string(),
        };
        Ok(Writer { handle: Handle { sender, health }, thread: thread.map_err(failed)? })
    }

    /// A way to the writer.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Does what has come in, keeps snapshots and gives the engine back; `None` if it had failed beyond repair.
    pub fn stop(self) -> Option<Engine> {
        let _ = self.handle.sender.send(Message::Stop);
        self.thread.join().ok()
    }
}

fn run(mut engine: Engine, receiver: &Receiver<Message>, health: &Health) -> Engine {
    let mut stop = false;
    while !stop {
        let (mut group, mut size) = (Vec::new(), 0);
        match receiver.recv_timeout(TICK) {
            Ok(Message::Work(work, requests)) => {
                group.push(work);
                size += requests;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => stop = true,
        }
        while size < GROUP {
            match receiver.try_recv() {
                Ok(Message::Work(work, requests)) => {
                    group.push(work);
                    size += requests;
                }
                Ok(Message::Stop) => stop = true,
                Err(_) => break,
            }
        }
        serve(&mut engine, group, size as u64, health);
    }
    engine.save_versions(true);
    engine
}

/// Does a group, makes it durable, answers.
fn serve(engine: &mut Engine, group: Vec<Work>, count: u64, health: &Health) {
    let began = Instant::now();
    let before = engine.end();
    let begun = engine.begin();
    let mut afters: Vec<After> = Vec::with_capacity(group.len());
    for work in group {
        afters.push(work(begun.is_ok().then_some(&mut *engine)));
    }
    let outcome = begun.and_then(|()| engine.commit()).map_err(|cause| cause.to_string());
    let changed = engine.end() > before || outcome.is_err();
    if changed {
        health.failing.store(outcome.is_err(), Ordering::Relaxed);
        let counter = if outcome.is_ok() { &health.groups } else { &health.failures };
        counter.fetch_add(1, Ordering::Relaxed);
        health.requests.fetch_add(count, Ordering::Relaxed);
    }
    health.busy.fetch_add(began.elapsed().as_micros() as u64, Ordering::Relaxed);
    afters.into_iter().for_each(|after| after(outcome.clone()));
}
