//! `reluctant serve`: decisions over HTTP.

use std::io::Write;

use reluctant::Registry;
use reluctant_serve::{Config, check, run};

use crate::args::Serve;
use crate::failure::Failure;

pub(crate) fn serve(registry: &Registry, options: &Serve) -> Result<(), Failure> {
    let config = Config::load(&options.config, registry)?;
    let mut out = std::io::stdout().lock();
    if options.check {
        for found in check(&config, registry)? {
            let (policy, events, version) = (found.policy, found.events, found.version);
            writeln!(out, "{policy}: {events} events, version {version}; recovery and replay agree to the byte")?;
        }
        return Ok(());
    }
    let started = |address| {
        // Whoever started it may have closed its standard output; that is no reason not to serve.
        let _ = writeln!(out, "reluctant: listening on http://{address}").and_then(|()| out.flush());
    };
    Ok(run(config, registry.clone(), started)?)
}
