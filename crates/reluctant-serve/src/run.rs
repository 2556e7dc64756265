//! A whole service: from its configuration to its end.

use std::net::SocketAddr;
use std::sync::Arc;

use reluctant::Registry;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::config::{Config, StoreSpec};
use crate::engine::{Checked, Engine, verify};
use crate::error::{Result, ServeError};
use crate::http::{self, Service};
use crate::open::open_store;
use crate::writer::Writer;

/// Checks a service's log; see [`verify`].
pub fn check(config: &Config, registry: &Registry) -> Result<Vec<Checked>> {
    if let StoreSpec::File(path) = &config.store
        && !path.exists()
    {
        let (store, reason) = (path.display().to_string(), "there is no such file".to_owned());
        return Err(ServeError::Foreign { store, reason });
    }
    verify(&config.policies, registry, open_store(&config.store)?.as_mut())
}

/// A service that is listening.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    thread: std::thread::JoinHandle<()>,
    writer: Writer,
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more requests, answers those that it has, keeps snapshots, and gives the engine back.
    pub fn stop(self) -> Option<Engine> {
        let _ = self.stop.send(true);
        let _ = self.thread.join();
        self.writer.stop()
    }
}

/// Starts a service and returns once it listens.
pub fn start(config: Config, registry: Registry, clock: Clock) -> Result<Running> {
    // The port first: if it is taken, the store is not touched.
    let refused = |cause: std::io::Error| ServeError::Listen {
        address: config.listen.to_string(),
        reason: match cause.kind() {
            std::io::ErrorKind::AddrInUse => {
                "another process listens there; stop it, or choose another port".to_owned()
            }
            _ => cause.to_string(),
        },
    };
    let socket = std::net::TcpListener::bind(config.listen).map_err(refused)?;
    let address = socket.local_addr().map_err(refused)?;
    socket.set_nonblocking(true).map_err(refused)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("http").build();
    let machine = |action: &str| {
        let action = action.to_owned();
        move |cause: std::io::Error| ServeError::Machine { action, reason: cause.to_string() }
    };
    let runtime = runtime.map_err(machine("start the threads that listen"))?;
    let store = open_store(&config.store)?;
    let engine = Engine::open(config.clone(), registry.clone(), store, clock)?;
    let ids = (0..config.policies.len()).map(|place| engine.store_id(place)).collect();
    let writer = Writer::start(engine)?;
    let service = Arc::new(Service::new(config, registry, ids, writer.handle()));
    let (stop, stopped) = watch::channel(false);
    let serve = move || {
        runtime.block_on(async {
            match TcpListener::from_std(socket) {
                Ok(listener) => http::serve(listener, service, stopped).await,
                Err(cause) => eprintln!("reluctant: cannot listen: {cause}"),
            }
        });
        // What still waits for the disk is answered by the writer, not awaited here.
        runtime.shutdown_background();
    };
    let thread = std::thread::Builder::new().name("listener".to_owned()).spawn(serve);
    Ok(Running { address, stop, thread: thread.map_err(machine("start the listening thread"))?, writer })
}

/// Runs a service until it is told to stop, by SIGTERM or by Ctrl-C. `started` is told the address.
pub fn run(config: Config, registry: Registry, started: impl FnOnce(SocketAddr)) -> Result<()> {
    let running = start(config, registry, Clock::Machine)?;
    started(running.address());
    let machine = |cause: std::io::Error| ServeError::Machine {
        action: "wait for signals".to_owned(),
        reason: cause.to_string(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(machine)?;
    runtime.block_on(signal()).map_err(machine)?;
    running.stop();
    Ok(())
}

#[cfg(unix)]
async fn signal() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    std::future::poll_fn(|context| {
        if term.poll_recv(context).is_ready() || int.poll_recv(context).is_ready() {
            return std::task::Poll::Ready(());
        }
        std::task::Poll::Pending
    })
    .await;
    Ok(())
}

#[cfg(not(unix))]
async fn signal() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
