//! `reluctant theory`: what the paper's statements say for given numbers.

use std::io::Write;

use reluctant::theory::{Inputs, Quantity, State, evaluate};
use reluctant_lab::report::wrap::wrap;
use serde_json::json;

use crate::args::Theory;
use crate::failure::Failure;
use crate::width;

pub(crate) fn theory(options: &Theory) -> Result<(), Failure> {
    let mut inputs = Inputs::new(options.dim as usize, options.neurons as usize, options.sigma);
    inputs.nu = options.nu;
    inputs.alpha0 = options.alpha0;
    inputs.delta = options.delta;
    inputs.horizon = options.horizon;
    let quantities = evaluate(&inputs)?;
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{:#}", json!({ "quantities": quantities }))?;
    } else {
        quantities.iter().try_for_each(|quantity| show(&mut out, quantity))?;
    }
    Ok(())
}

fn show(out: &mut impl Write, quantity: &Quantity) -> std::io::Result<()> {
    let label = if quantity.label.is_empty() { String::new() } else { format!(", {}", quantity.label) };
    let holds = match quantity.holds {
        Some(true) => "  [holds]",
        Some(false) => "  [does not hold]",
        None => "",
    };
    writeln!(out, "{} = {}{holds}", quantity.symbol, number(quantity))?;
    // A pipe takes lines as they are.
    let columns = width::columns().unwrap_or(usize::MAX);
    let indented = |text: &str| wrap(text, columns, "    ", "    ");
    writeln!(out, "{}", indented(&format!("{}{label}: {}", quantity.place, quantity.formula)))?;
    writeln!(out, "{}", indented(&quantity.meaning))
}

/// A number as people read it: 10^41.5 rather than 3.1e41.
pub(super) fn number(quantity: &Quantity) -> String {
    match (quantity.state, quantity.value, quantity.log10) {
        (State::Infinite, ..) => "infinite".to_owned(),
        (State::Undefined, ..) => "none".to_owned(),
        (_, _, Some(log10)) if log10 >= 7.0 => format!("10^{log10:.2}"),
        (_, Some(value), _) if value != 0.0 && value.abs() < 1e-3 => format!("{value:.3e}"),
        (_, Some(value), _) if value.fract() == 0.0 => format!("{value}"),
        (_, Some(value), _) => format!("{value:.4}"),
        (_, None, Some(log10)) => format!("10^{log10:.2}"),
        (_, None, None) => "none".to_owned(),
    }
}
