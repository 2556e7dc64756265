//! What was chosen, and what a policy thinks of an action.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// What was chosen.
#[pyclass(frozen, module = "reluctant")]
pub(crate) struct Choice {
    /// The row of the arms, or None on the sphere.
    #[pyo3(get)]
    index: Option<usize>,
    action: Py<PyArray1<f64>>,
    /// The predicted mean reward.
    #[pyo3(get)]
    mean: f64,
    /// The half-width of its confidence interval.
    #[pyo3(get)]
    width: f64,
    /// The probability (on the sphere: the density) with which this action was chosen, 1 if nothing was left to chance;
    /// `None` where it is not known: that of Thompson sampling has no closed form.
    #[pyo3(get)]
    propensity: Option<f64>,
    /// On the sphere: how sure it is that no other action scores higher.
    #[pyo3(get)]
    certificate: Option<String>,
    /// In a context: the name of the action.
    #[pyo3(get)]
    name: Option<String>,
    features: Option<Py<PyArray1<f64>>>,
}

/// A vector as Python has it.
type Vector<'py> = Bound<'py, PyArray1<f64>>;

/// A choice of the core without what it borrows.
pub(crate) struct Kept {
    index: Option<usize>,
    action: Vec<f64>,
    score: reluctant::Score,
    propensity: Option<f64>,
    certificate: Option<String>,
    named: Option<(String, Vec<f64>)>,
}

impl From<reluctant::Choice<'_>> for Kept {
    fn from(choice: reluctant::Choice<'_>) -> Self {
        Kept {
            index: choice.index,
            named: choice.named.map(|(name, features)| (name.to_owned(), features.to_vec())),
            score: choice.score,
            propensity: choice.propensity,
            certificate: choice.certificate.map(|certificate| certificate.to_string()),
            action: choice.action.into_owned(),
        }
    }
}

impl Choice {
    pub(crate) fn from_kept(py: Python<'_>, kept: Kept) -> Self {
        let (name, features) = kept.named.unzip();
        let features = features.filter(|features| !features.is_empty());
        Choice {
            index: kept.index,
            action: PyArray1::from_vec(py, kept.action).unbind(),
            mean: kept.score.mean,
            width: kept.score.width,
            propensity: kept.propensity,
            certificate: kept.certificate,
            name,
            features: features.map(|features| PyArray1::from_vec(py, features).unbind()),
        }
    }

    /// A named action in a context, of which nothing is predicted.
    pub(crate) fn of_action(py: Python<'_>, context: &[f64], name: &str, features: &[f64]) -> Self {
        let named = Some((name.to_owned(), features.to_vec()));
        let (score, action) = (reluctant::Score::default(), context.to_vec());
        Choice::from_kept(py, Kept { index: None, action, score, propensity: None, certificate: None, named })
    }

    /// The action, its name and its features, as Python's own objects.
    pub(crate) fn parts<'py>(&self, py: Python<'py>) -> (Vector<'py>, Option<&str>, Option<Vector<'py>>) {
        let features = self.features.as_ref().map(|features| features.bind(py).clone());
        (self.action.bind(py).clone(), self.name.as_deref(), features)
    }
}

#[pymethods]
impl Choice {
    #[new]
    #[pyo3(
        signature = (
            index, action, mean, width, propensity = Some(1.0), certificate = None, name = None, features = None
        ),
        text_signature = "(index, action, mean, width, propensity=1.0, certificate=None, name=None, features=None)"
    )]
    #[allow(clippy::too_many_arguments)]
    fn new(
        index: Option<usize>,
        action: Bound<'_, PyArray1<f64>>,
        mean: f64,
        width: f64,
        propensity: Option<f64>,
        certificate: Option<String>,
        name: Option<String>,
        features: Option<Bound<'_, PyArray1<f64>>>,
    ) -> Self {
        let (action, features) = (action.unbind(), features.map(Bound::unbind));
        Choice { index, action, mean, width, propensity, certificate, name, features }
    }

    /// The chosen vector; in a context, the context.
    #[getter]
    fn action(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.action.clone_ref(py)
    }

    /// In a context whose actions have features: those of the chosen one.
    #[getter]
    fn features(&self, py: Python<'_>) -> Option<Py<PyArray1<f64>>> {
        self.features.as_ref().map(|features| features.clone_ref(py))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let index = self.index.map_or("None".to_owned(), |index| index.to_string());
        let action = self.action.bind(py).call_method0("tolist")?.repr()?;
        let name = match &self.name {
            None => String::new(),
            Some(name) => format!("name={}, ", PyString::new(py, name).repr()?),
        };
        let (mean, width) = (self.mean, self.width);
        Ok(format!("Choice(index={index}, {name}action={action}, mean={mean:.6}, width={width:.6})"))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let choice = slf.get();
        let parts = (
            choice.index,
            choice.action.bind(slf.py()),
            choice.mean,
            choice.width,
            choice.propensity,
            &choice.certificate,
            &choice.name,
            choice.features.as_ref().map(|features| features.bind(slf.py())),
        );
        Ok((slf.get_type().into_any(), parts.into_pyobject(slf.py())?.into_any()))
    }
}

/// What a policy thinks of an action, and why.
#[pyclass(frozen, get_all, module = "reluctant")]
pub(crate) struct Explanation {
    /// The predicted mean reward.
    mean: f64,
    /// How unsure the policy is of it.
    spread: f64,
    /// Whether the next choice is exploration.
    exploring: bool,
    /// Which model acts.
    model: String,
    /// Why this one; empty if the policy has no other.
    why: String,
    /// What is amiss, or None.
    warning: Option<String>,
}

#[pymethods]
impl Explanation {
    #[new]
    #[pyo3(signature = (mean, spread, exploring, model, why, warning = None))]
    fn new(mean: f64, spread: f64, exploring: bool, model: String, why: String, warning: Option<String>) -> Self {
        Explanation { mean, spread, exploring, model, why, warning }
    }

    fn __str__(&self) -> String {
        let mut text = format!("{:.3} ± {:.3} by {}", self.mean, self.spread, self.model);
        if !self.why.is_empty() {
            text += &format!(" ({})", self.why);
        }
        if let Some(warning) = &self.warning {
            text += &format!("; warning: {warning}");
        }
        text
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = |text: &str| Ok::<_, PyErr>(PyString::new(py, text).repr()?.to_string());
        let warning = self.warning.as_deref().map_or(Ok("None".to_owned()), text)?;
        let exploring = if self.exploring { "True" } else { "False" };
        Ok(format!(
            "Explanation(mean={:.6}, spread={:.6}, exploring={exploring}, model={}, why={}, warning={warning})",
            self.mean,
            self.spread,
            text(&self.model)?,
            text(&self.why)?
        ))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let Explanation { mean, spread, exploring, model, why, warning } = slf.get();
        let parts = (*mean, *spread, *exploring, model, why, warning);
        Ok((slf.get_type().into_any(), parts.into_pyobject(slf.py())?.into_any()))
    }
}

impl From<reluctant::policy::Explanation> for Explanation {
    fn from(explanation: reluctant::policy::Explanation) -> Self {
        let reluctant::policy::Explanation { mean, spread, exploring, model, why, warning, .. } = explanation;
        Explanation { mean, spread, exploring, model, why, warning }
    }
}
