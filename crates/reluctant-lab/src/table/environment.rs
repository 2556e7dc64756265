//! `table`: the rows of a file as rounds, in an order that the trial's key shuffles.
//!
//! Each row is a round. The actions are the classes of a column, of which the right one is rewarded with 1 and the
//! others with 0, so that regret counts mistakes; or columns of rewards, one an action. There is no noise: what is
//! written in the row is paid.
//!
//! A policy sees the features of the row as a context with the actions' names (`offer = "contexts"`), or, as papers
//! have it, a vector an action: that of action a has the features in block a of K blocks, and zeros in the others
//! (`offer = "blocks"`). A linear model on blocks is a linear model an action.
//!
//! Policies that want a bound on the noise are told σ ≤ ½ where classes are rewarded: whatever the features say, a
//! reward of 0 or 1 is ½-subgaussian around its mean. That follows from what a class is and not from the rows, so it
//! gives nothing away. How much noise there is, is not told: it may be none. Of columns of rewards nothing is known
//! before they are seen, so nothing is told.

use std::path::{Path, PathBuf};

use reluctant::env::{Build, Entry, Environment, Sample};
use reluctant::limits::MAX_FEATURES;
use reluctant::params::{Initial, Kind, Literal, Param};
use reluctant::{
    Context, Error, Key, Means, Name, Noise, Offer, Params, Result, Round, RoundMemory, Rows, Space, Value,
};

use super::{TableOptions, Target, Walk, cache};

const COLUMNS: Kind = Kind::Text("names of columns, with commas between them");
const NO_COLUMNS: Initial = Initial::Auto("none");

/// A row of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "table",
    summary: "the rows of a file, shuffled: features, and classes or columns of rewards as actions",
    citation: "Zhang, Zhou, Li and Gu (2021), Neural Thompson sampling, Section 5",
    params: &[
        Param::new("file", Initial::Required, Kind::Path, "a table: CSV with a header, gzipped or not"),
        Param::new(
            "class",
            Initial::Auto("the last column"),
            Kind::Text("the name of a column"),
            "the column whose values are the actions: the right one is rewarded with 1, the others with 0",
        ),
        Param::new("rewards", NO_COLUMNS, COLUMNS, "in place of a class: columns of rewards, one for each action"),
        Param::new(
            "offer",
            Initial::word("contexts"),
            Kind::Word(&["contexts", "blocks"]),
            "contexts: the features as a context, with named actions; blocks: a vector an action, with the features in \
             its own block",
        ),
        Param::new(
            "numbers",
            Initial::word("raw"),
            Kind::Word(&["raw", "unit", "standard"]),
            "raw: as they are; unit: all features of a row scaled to length 1; standard: by mean and standard \
             deviation of the rows so far",
        ),
        Param::new(
            "categories",
            Initial::word("one-hot"),
            Kind::Word(&["one-hot", "ordinal"]),
            "one-hot: a feature for each category; ordinal: the place of the category in sorted order",
        ),
        Param::new(
            "missing",
            Initial::word("refuse"),
            Kind::Word(&["refuse", "drop", "category", "mean"]),
            "what becomes of missing values: an error, a row less, a category of their own, or the mean so far",
        ),
        Param::new("ignore", NO_COLUMNS, COLUMNS, "columns that are no features, such as identifiers"),
        Param::new("as_numbers", NO_COLUMNS, COLUMNS, "columns that hold numbers, whatever they look like"),
        Param::new("as_categories", NO_COLUMNS, COLUMNS, "columns that hold categories, though they look like numbers"),
        Param::new(
            "separator",
            Initial::word("comma"),
            Kind::Word(&["comma", "semicolon", "tab", "bar"]),
            "what separates the fields of a CSV file",
        ),
    ],
    samples: &[
        Sample { name: "contexts", settings: &[("numbers", Literal::Word("standard"))] },
        Sample {
            name: "blocks",
            settings: &[
                ("offer", Literal::Word("blocks")),
                ("numbers", Literal::Word("unit")),
                ("categories", Literal::Word("ordinal")),
            ],
        },
    ],
    build: Build::Plain(|params, key| Ok(Box::new(TableEnvironment::new(params, key)?))),
};

/// The rows of a file as rounds.
#[derive(Debug)]
pub struct TableEnvironment {
    walk: Walk,
    names: Vec<Name>,
    blocks: bool,
    /// The file's name without what follows its first dot.
    stem: String,
}

impl TableEnvironment {
    fn new(params: &Params, key: Key) -> Result<Self> {
        let options = options(params)?;
        let table = cache::load(&options).map_err(|cause| Error::Environment(cause.to_string()))?;
        let blocks = params.word("offer")? == "blocks";
        let (actions, width) = (table.actions().len(), table.width());
        if blocks && actions.saturating_mul(width) > MAX_FEATURES {
            let allowed = format!(
                "contexts, for {actions} blocks of {width} features are more than the {MAX_FEATURES} numbers that a \
                 vector may have"
            );
            return Err(Error::out_of_range("offer", "blocks", allowed));
        }
        Ok(TableEnvironment {
            names: table.actions().iter().map(|name| Name::from(name.as_str())).collect(),
            walk: Walk::new(table.clone(), table.order(key))?,
            blocks,
            stem: stem(&options.file),
        })
    }

    /// The features of round t, in `numbers`, and what each action is paid, in `means`.
    fn fill(&self, t: u64, numbers: &mut Vec<f64>, means: &mut Vec<f64>) -> Result<()> {
        let rounds = self.walk.len() as u64;
        let exhausted = Error::Exhausted { environment: ENTRY.name, rounds, asked: t };
        let row = self.walk.features(t, numbers).ok_or(exhausted)?;
        means.clear();
        means.extend((0..self.names.len()).map(|action| self.walk.table().reward(row, action)));
        Ok(())
    }

    /// Turns the features in `numbers` into rows of blocks.
    fn spread(&self, numbers: &mut Vec<f64>) {
        let (width, actions) = (numbers.len(), self.names.len());
        // The first row has its features in its first block: they are in place.
        numbers.resize(actions * actions * width, 0.0);
        (1..actions).for_each(|action| numbers.copy_within(..width, action * (actions + 1) * width));
    }
}

impl Environment for TableEnvironment {
    fn space(&self) -> Space {
        let width = self.walk.table().width();
        if self.blocks { Space::Vectors { dim: self.names.len() * width } } else { Space::contexts(width) }
    }

    fn round<'a>(&'a self, t: u64, memory: &'a mut RoundMemory) -> Result<Round<'a>> {
        let RoundMemory { numbers, means, .. } = memory;
        self.fill(t, numbers, means)?;
        let offer = if self.blocks {
            self.spread(numbers);
            Offer::Rows(Rows::new(self.space().dim(), numbers)?)
        } else {
            Offer::Context(Context::new(numbers, &self.names)?)
        };
        Ok(Round { offer, means: Means::Each(means), noise: Noise::Added(0.0) })
    }

    fn rounds(&self) -> Option<u64> {
        Some(self.walk.len() as u64)
    }

    fn content(&self) -> Option<String> {
        Some(self.walk.table().fingerprint().to_owned())
    }

    fn facts(&self) -> Vec<(&'static str, Value)> {
        let classes = self.walk.table().class(0).is_some();
        if classes { vec![("sigma_at_most", Value::Real(CLASS_SIGMA))] } else { Vec::new() }
    }

    fn title(&self) -> Option<String> {
        Some(format!("{}, p = {}, K = {}", self.stem, self.walk.table().width(), self.names.len()))
    }
}

/// A reward of 0 or 1 is σ-subgaussian around its mean with this σ, whatever the mean is.
const CLASS_SIGMA: f64 = 0.5;

/// What the parameters say about the table.
fn options(params: &Params) -> Result<TableOptions> {
    let columns = |name: &str| match params.text(name) {
        Some(text) => text.split(',').map(|column| column.trim().to_owned()).collect(),
        None => Vec::new(),
    };
    let target = match (params.text("class"), params.text("rewards")) {
        (Some(class), Some(_)) => {
            let allowed = "not beside rewards: either a class is rewarded, or the columns that rewards names";
            return Err(Error::out_of_range("class", class, allowed));
        }
        (Some(class), None) => Target::Class(class.to_owned()),
        (None, Some(_)) => Target::Rewards(columns("rewards")),
        (None, None) => Target::default(),
    };
    Ok(TableOptions {
        file: params.text("file").map(PathBuf::from).unwrap_or_default(),
        target,
        numbers: params.word("numbers")?.parse()?,
        categories: params.word("categories")?.parse()?,
        missing: params.word("missing")?.parse()?,
        ignore: columns("ignore"),
        as_numbers: columns("as_numbers"),
        as_categories: columns("as_categories"),
        separator: match params.word("separator")? {
            "semicolon" => ';',
            "tab" => '\t',
            "bar" => '|',
            _ => ',',
        },
    })
}

/// The name of a file without what follows its first dot.
fn stem(file: &Path) -> String {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match name.split_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::File;
    use super::super::{Categories, Missing, Numbers};
    use super::*;
    use reluctant::Settings;

    const PETS: &str = "size;legs;class;good;bad\n1;4;cat;0.5;-1\n2;6;ant;2;0\n3;4;cow;1;1\n4;4;cat;0;3\n";

    fn made(file: &File, settings: Settings) -> Result<Box<dyn Environment>> {
        let path = file.options().file.to_string_lossy().into_owned();
        ENTRY.build(&settings.with("file", path.as_str()).with("separator", "semicolon"), Key::new(1))
    }

    #[test]
    fn the_words_of_the_parameters_are_those_of_the_options() {
        let words = |name: &str| match ENTRY.params.iter().find(|param| param.name == name).unwrap().kind {
            Kind::Word(words) => words.to_vec(),
            _ => unreachable!(),
        };
        assert_eq!(words("numbers"), Numbers::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>());
        assert_eq!(words("categories"), Categories::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>());
        assert_eq!(words("missing"), Missing::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>());
        let given = Settings::new().with("file", "x.csv");
        assert_eq!(options(&Params::resolve("table", ENTRY.params, &given).unwrap()), Ok(TableOptions::new("x.csv")));
    }

    #[test]
    fn classes_are_named_actions_and_the_right_one_is_paid() {
        let file = File::new("environment-classes", PETS);
        let environment = made(&file, Settings::new().with("class", "class").with("ignore", "good, bad")).unwrap();
        assert_eq!((environment.space(), environment.rounds()), (Space::contexts(2), Some(4)));
        assert_eq!(environment.facts(), [("sigma_at_most", Value::Real(0.5))]);
        assert!(environment.title().unwrap().ends_with(", p = 2, K = 3"));
        let mut memory = RoundMemory::default();
        let mut sizes = Vec::new();
        for t in 1..=4 {
            let round = environment.round(t, &mut memory).unwrap();
            let (Offer::Context(context), Means::Each(means)) = (round.offer, round.means) else { unreachable!() };
            let names: Vec<&str> = context.names().iter().map(|name| &**name).collect();
            assert_eq!(names, ["ant", "cat", "cow"]);
            let class = match context.features() {
                [2.0, 6.0] => [1.0, 0.0, 0.0],
                [3.0, 4.0] => [0.0, 0.0, 1.0],
                _ => [0.0, 1.0, 0.0],
            };
            assert_eq!(means, class);
            sizes.push(context.features()[0]);
        }
        sizes.sort_by(f64::total_cmp);
        assert_eq!(sizes, [1.0, 2.0, 3.0, 4.0]);
        let said = environment.round(5, &mut memory).unwrap_err().to_string();
        assert_eq!(said, "table has 4 rounds, and round 5 was asked for");
    }

    #[test]
    fn blocks_have_the_features_of_each_action_in_its_own_place() {
        let file = File::new("environment-blocks", PETS);
        let settings = Settings::new().with("rewards", "good,bad").with("ignore", "class");
        let contexts = made(&file, settings.clone()).unwrap();
        let blocks = made(&file, settings.with("offer", "blocks")).unwrap();
        assert_eq!((blocks.space(), blocks.facts()), (Space::Vectors { dim: 4 }, Vec::new()));
        let (mut first, mut second) = (RoundMemory::default(), RoundMemory::default());
        for t in 1..=4 {
            let (a, b) = (contexts.round(t, &mut first).unwrap(), blocks.round(t, &mut second).unwrap());
            let (Offer::Context(context), Offer::Rows(rows)) = (a.offer, b.offer) else { unreachable!() };
            let &[x, y] = context.features() else { unreachable!() };
            assert_eq!(rows.data(), [x, y, 0.0, 0.0, 0.0, 0.0, x, y]);
            let (Means::Each(a), Means::Each(b)) = (a.means, b.means) else { unreachable!() };
            assert_eq!(a, b);
        }
    }

    #[test]
    fn mistakes_are_named() {
        let file = File::new("environment-mistakes", PETS);
        let said = |settings| made(&file, settings).unwrap_err().to_string();
        let both = said(Settings::new().with("class", "class").with("rewards", "good, bad"));
        assert!(both.starts_with("class = class is out of range: not beside rewards"), "{both}");
        let unknown = said(Settings::new().with("class", "klass"));
        assert!(unknown.contains("environment-mistakes") && unknown.contains("did you mean 'class'?"), "{unknown}");
        let slip = said(Settings::new().with("class", "good").with("as_numbers", "class"));
        assert!(slip.contains("environment-mistakes:2: ") && slip.contains("'class'"), "{slip}");
        let absent = ENTRY.build(&Settings::new().with("file", "no/such.csv"), Key::new(1)).unwrap_err().to_string();
        assert_eq!(absent, "no/such.csv: there is no such file");
    }

    #[test]
    fn titles_begin_with_the_name_of_the_file() {
        let stems = ["data/shuttle.csv.gz", "plain", ".hidden"].map(|file| stem(file.as_ref()));
        assert_eq!(stems, ["shuttle", "plain", ".hidden"]);
    }
}
