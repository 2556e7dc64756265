//! What the columns hold, numbers or categories: as declared, or as all of their values say.

use super::fault::{Fault, Outcome};
use super::options::Missing;
use super::roles::{Declared, Role};
use super::sheet::{Cell, Record, Sheet};

/// A column with more numbers than this, and text besides, is more likely one of numbers with slips than one of
/// categories. To guess either would be wrong.
const NEARLY_ALL: f64 = 0.95;

/// What a column is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A feature of numbers.
    Numbers,
    /// A feature of categories.
    Categories,
    /// The class.
    Class,
    /// The rewards of the action with this index.
    Reward(usize),
    /// Not read.
    Ignored,
}

/// What was counted in a column.
#[derive(Debug, Clone, Default)]
struct Tally {
    numbers: usize,
    texts: usize,
    /// Where the first text is, and what it says.
    first_text: Option<(usize, String)>,
    first_missing: Option<usize>,
}

impl Tally {
    fn count(&mut self, place: usize, cell: Cell<'_>) {
        if cell == Cell::Missing {
            self.first_missing.get_or_insert(place);
        } else if cell.number().is_some() {
            self.numbers += 1;
        } else {
            self.texts += 1;
            self.first_text.get_or_insert_with(|| (place, cell.text().into_owned()));
        }
    }
}

/// Whether a row is left out: one with a missing value in a column that is used, if that was asked for.
pub(super) fn is_dropped(record: &dyn Record, used: &[usize], missing: Missing) -> bool {
    missing == Missing::Drop && used.iter().any(|&column| record.cell(column) == Cell::Missing)
}

/// The columns that are used.
pub(super) fn used(roles: &[Role]) -> Vec<usize> {
    (0..roles.len()).filter(|&column| roles[column] != Role::Ignored).collect()
}

/// Goes through all rows once and decides what each column is read as.
pub(super) fn kinds(sheet: &dyn Sheet, roles: &[Role], missing: Missing) -> Outcome<Vec<Kind>> {
    let used = used(roles);
    for &column in &used {
        if let Some(foreign) = sheet.foreign(column) {
            let message = format!(
                "column '{}' has the type {foreign}, but only numbers, texts, booleans and dictionaries of these are \
                 read; convert it, or name it in ignore",
                sheet.names()[column]
            );
            return Err(Fault::whole(message));
        }
    }
    let mut tallies = vec![Tally::default(); roles.len()];
    let (mut kept, mut rows) = (0, 0);
    sheet.visit(&mut |place, record| {
        rows += 1;
        if !is_dropped(record, &used, missing) {
            kept += 1;
            used.iter().for_each(|&column| tallies[column].count(place, record.cell(column)));
        }
        Ok(())
    })?;
    if rows == 0 {
        return Err(Fault::whole("the table has a header but no rows; at least one is needed"));
    }
    if kept == 0 {
        return Err(Fault::whole(
            "missing = \"drop\" leaves no row, since each has a missing value; name columns in ignore, or fill them",
        ));
    }
    let columns = roles.iter().zip(&tallies).zip(sheet.names());
    columns.map(|((role, tally), name)| kind(sheet, name, *role, tally, missing)).collect()
}

/// What one column is read as.
fn kind(sheet: &dyn Sheet, name: &str, role: Role, tally: &Tally, missing: Missing) -> Outcome<Kind> {
    let kind = match role {
        Role::Ignored => return Ok(Kind::Ignored),
        Role::Class => Kind::Class,
        Role::Reward(action) => Kind::Reward(action),
        Role::Feature(Declared::Numbers) => Kind::Numbers,
        Role::Feature(Declared::Categories) => Kind::Categories,
        Role::Feature(Declared::Unsaid) => guess(sheet, name, tally)?,
    };
    if matches!(role, Role::Feature(_)) && tally.numbers + tally.texts == 0 {
        return Err(Fault::whole(format!("column '{name}' has no value in any row; leave it out by ignore")));
    }
    if let (Kind::Numbers | Kind::Reward(_), Some((place, text))) = (kind, &tally.first_text) {
        let message = format!("column '{name}' holds the text '{text}' where a number is expected");
        return Err(Fault::at(sheet.line(*place), message));
    }
    if let Some(place) = tally.first_missing {
        check_missing(name, kind, missing).map_err(|message| Fault::at(sheet.line(place), message))?;
    }
    Ok(kind)
}

/// Numbers if all values are, categories otherwise; neither where that would overlook a slip.
fn guess(sheet: &dyn Sheet, name: &str, tally: &Tally) -> Outcome<Kind> {
    let Some((place, text)) = &tally.first_text else { return Ok(Kind::Numbers) };
    let (numbers, all) = (tally.numbers, tally.numbers + tally.texts);
    if numbers as f64 > NEARLY_ALL * all as f64 {
        let message = format!(
            "column '{name}' holds the text '{text}', but numbers in {numbers} of {all} rows; correct it, or declare \
             the column in as_categories"
        );
        return Err(Fault::at(sheet.line(*place), message));
    }
    Ok(Kind::Categories)
}

/// What to do about missing values in a column, where they are not allowed.
fn check_missing(name: &str, kind: Kind, missing: Missing) -> std::result::Result<(), String> {
    let allowed = match (kind, missing) {
        (_, Missing::Drop) | (Kind::Ignored, _) => return Ok(()),
        (Kind::Categories, Missing::Category | Missing::Mean) | (Kind::Numbers, Missing::Mean) => return Ok(()),
        (Kind::Class, _) => {
            return Err(format!("the class in column '{name}' is missing; missing may only be \"drop\" here"));
        }
        (Kind::Reward(_), _) => {
            return Err(format!("the reward in column '{name}' is missing; missing may only be \"drop\" here"));
        }
        (Kind::Categories, Missing::Refuse) => "\"drop\", \"category\" or \"mean\"",
        (Kind::Numbers, Missing::Refuse | Missing::Category) => "\"drop\" or \"mean\"",
    };
    Err(format!("the value of column '{name}' is missing; say what becomes of such values by missing = {allowed}"))
}
