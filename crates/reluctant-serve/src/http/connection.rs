//! Connections: so many at a time, each with limited patience, and an end that lets answers finish.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use super::{IDLE, Service, router};

/// After the service was told to stop, requests that are under way have so long to finish.
const GRACE: Duration = Duration::from_secs(30);
/// After a connection could not be taken (too many files are open), so long passes before the next try.
const PAUSE: Duration = Duration::from_millis(50);

/// Listens until `stopped` says so.
pub async fn serve(listener: TcpListener, service: Arc<Service>, mut stopped: watch::Receiver<bool>) {
    let limits = &service.config.limits;
    let room = Arc::new(Semaphore::new(limits.connections));
    let mut http = http1::Builder::new();
    // Whoever sends a header byte by byte is cut off; the same patience holds between two requests.
    http.timer(TokioTimer::new()).header_read_timeout(limits.timeout.min(IDLE)).keep_alive(true);
    let router = router(Arc::clone(&service));
    let graceful = GracefulShutdown::new();
    loop {
        let permit = tokio::select! {
            permit = Arc::clone(&room).acquire_owned() => permit,
            _ = stopped.changed() => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.changed() => break,
        };
        let Ok((socket, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let _ = socket.set_nodelay(true);
        let connection = http.serve_connection(TokioIo::new(socket), TowerToHyperService::new(router.clone()));
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            // A connection that breaks is its caller's affair.
            let _ = watched.await;
            drop(permit);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
}
