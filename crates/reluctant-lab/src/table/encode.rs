//! The values of a table as numbers and codes, and how they become features.

use std::collections::HashMap;

use reluctant::limits::LIMIT;

use super::columns::{Kind, is_dropped};
use super::fault::{Fault, Outcome};
use super::options::{Categories, TableOptions};
use super::roles::Role;
use super::sheet::{Cell, Sheet};

/// The most classes that a column may have, and the most categories where each becomes a feature. More is most likely
/// an identifier or a column of numbers, and no policy here could learn from as many.
const MAX_CATEGORIES: usize = 1000;
/// The name of the category of missing values. No other can have it, since this is a word for a missing value.
const MISSING_NAME: &str = "?";

/// Where the features of a column come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// One number: the place among the numbers of a row.
    Number(usize),
    /// As many features as there are categories, of which one is 1: the place among the codes of a row.
    OneHot {
        /// The place.
        at: usize,
        /// How many categories.
        size: usize,
    },
}

/// What is paid.
#[derive(Debug)]
pub(super) enum Outcomes {
    /// The index of the right action, a row.
    Classes(Vec<u32>),
    /// The rewards of all actions, row after row.
    Rewards(Vec<f64>),
}

/// All values of a table.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) rows: usize,
    /// Row after row the numbers, and ordinals of categories; NaN where a number is missing.
    pub(super) numbers: Vec<f64>,
    /// Row after row the codes of categories that become one feature each.
    pub(super) codes: Vec<u32>,
    /// The features' columns, in the order of the file.
    pub(super) slots: Vec<Slot>,
    pub(super) feature_names: Vec<String>,
    pub(super) actions: Vec<String>,
    pub(super) outcomes: Outcomes,
}

/// Goes through all rows and takes over what the columns hold.
pub(super) fn content(sheet: &dyn Sheet, roles: &[Role], kinds: &[Kind], options: &TableOptions) -> Outcome<Content> {
    let used = super::columns::used(roles);
    let mut words: Vec<Words> = kinds.iter().map(|_| Words::default()).collect();
    let (mut rows, mut numbers, mut codes, mut classes) = (0u32, Vec::new(), Vec::new(), Vec::new());
    let actions = kinds.iter().filter(|kind| matches!(kind, Kind::Reward(_))).count();
    let mut rewards = Vec::new();
    sheet.visit(&mut |place, record| {
        if is_dropped(record, &used, options.missing) {
            return Ok(());
        }
        rows = rows.checked_add(1).ok_or_else(|| Fault::whole("the table has more rows than 4,294,967,295"))?;
        let first = rewards.len();
        rewards.resize(first + actions, 0.0);
        for &column in &used {
            let cell = record.cell(column);
            let number = || bounded(cell, &sheet.names()[column]).map_err(|what| Fault::at(sheet.line(place), what));
            match kinds[column] {
                Kind::Numbers => numbers.push(number()?),
                Kind::Categories if options.categories == Categories::Ordinal => {
                    numbers.push(f64::from(words[column].code(cell)));
                }
                Kind::Categories => codes.push(words[column].code(cell)),
                Kind::Class => classes.push(words[column].code(cell)),
                Kind::Reward(action) => rewards[first + action] = number()?,
                Kind::Ignored => {}
            }
        }
        Ok(())
    })?;
    let mut content = Content {
        rows: rows as usize,
        numbers,
        codes,
        slots: Vec::new(),
        feature_names: Vec::new(),
        actions: vec![String::new(); actions],
        outcomes: Outcomes::Rewards(rewards),
    };
    content.sort(sheet, kinds, words, classes, options)?;
    Ok(content)
}

impl Content {
    /// Puts categories in their sorted order, and lays out the features.
    fn sort(
        &mut self,
        sheet: &dyn Sheet,
        kinds: &[Kind],
        words: Vec<Words>,
        mut classes: Vec<u32>,
        options: &TableOptions,
    ) -> Outcome<()> {
        let ordinal = options.categories == Categories::Ordinal;
        let is_number = |kind: &Kind| *kind == Kind::Numbers || (ordinal && *kind == Kind::Categories);
        let number_width = kinds.iter().filter(|kind| is_number(kind)).count();
        let code_width = kinds.iter().filter(|kind| !ordinal && **kind == Kind::Categories).count();
        let (mut number_at, mut code_at) = (0, 0);
        for ((kind, words), name) in kinds.iter().zip(words).zip(sheet.names()) {
            match kind {
                Kind::Ignored => {}
                Kind::Reward(action) => self.actions[*action] = name.clone(),
                Kind::Numbers => {
                    self.slots.push(Slot::Number(number_at));
                    self.feature_names.push(name.clone());
                    number_at += 1;
                }
                Kind::Categories if ordinal => {
                    let (_, places) = words.sorted();
                    let column = self.numbers.iter_mut().skip(number_at).step_by(number_width);
                    column.for_each(|code| *code = f64::from(places[*code as usize]));
                    self.slots.push(Slot::Number(number_at));
                    self.feature_names.push(name.clone());
                    number_at += 1;
                }
                Kind::Categories => {
                    let (sorted, places) = words.sorted();
                    if sorted.len() > MAX_CATEGORIES {
                        let message = format!(
                            "column '{name}' has {} categories, but only up to {MAX_CATEGORIES} can become a feature \
                             each; name it in ignore or as_numbers, or give categories = \"ordinal\"",
                            sorted.len()
                        );
                        return Err(Fault::whole(message));
                    }
                    let column = self.codes.iter_mut().skip(code_at).step_by(code_width);
                    column.for_each(|code| *code = places[*code as usize]);
                    self.slots.push(Slot::OneHot { at: code_at, size: sorted.len() });
                    self.feature_names.extend(sorted.iter().map(|word| format!("{name}={word}")));
                    code_at += 1;
                }
                Kind::Class => {
                    let (sorted, places) = words.sorted();
                    check_classes(name, &sorted)?;
                    classes.iter_mut().for_each(|code| *code = places[*code as usize]);
                    self.actions = sorted;
                    self.outcomes = Outcomes::Classes(std::mem::take(&mut classes));
                }
            }
        }
        Ok(())
    }
}

fn check_classes(name: &str, classes: &[String]) -> Outcome<()> {
    if classes.len() <= MAX_CATEGORIES {
        return Ok(());
    }
    Err(Fault::whole(format!(
        "column '{name}' has {} classes, but only up to {MAX_CATEGORIES} can be actions; is it really the class?",
        classes.len()
    )))
}

/// The number of a cell, NaN where it is missing, of a size that policies can square.
fn bounded(cell: Cell<'_>, name: &str) -> std::result::Result<f64, String> {
    match cell.number() {
        Some(number) if number.abs() > LIMIT => {
            Err(format!("column '{name}' holds {number:e}; numbers may be up to {LIMIT:e} in size"))
        }
        number => Ok(number.unwrap_or(f64::NAN)),
    }
}

/// The categories of a column, with codes in the order in which they appear.
#[derive(Debug, Default)]
struct Words {
    codes: HashMap<String, u32>,
    next: u32,
    missing: Option<u32>,
}

impl Words {
    /// The code of a cell. There are never more categories than rows, which a code can count.
    fn code(&mut self, cell: Cell<'_>) -> u32 {
        let next = self.next;
        let code = match cell {
            Cell::Missing => *self.missing.get_or_insert(next),
            present => {
                let text = present.text();
                match self.codes.get(text.as_ref()) {
                    Some(code) => *code,
                    None => *self.codes.entry(text.into_owned()).or_insert(next),
                }
            }
        };
        self.next += u32::from(code == next);
        code
    }

    /// The categories in sorted order, and the place in it of each code: by size if all are numbers, by their
    /// characters otherwise, and that of missing values last.
    fn sorted(self) -> (Vec<String>, Vec<u32>) {
        let number = |text: &str| Cell::Text(text).number();
        let all_numbers = self.codes.keys().all(|word| number(word).is_some());
        let mut words: Vec<(String, u32)> = self.codes.into_iter().collect();
        words.sort_by(|(a, _), (b, _)| match (number(a), number(b)) {
            (Some(x), Some(y)) if all_numbers => x.total_cmp(&y).then_with(|| a.cmp(b)),
            _ => a.cmp(b),
        });
        words.extend(self.missing.map(|code| (MISSING_NAME.to_owned(), code)));
        let mut places = vec![0; words.len()];
        for (place, (_, code)) in (0..).zip(&words) {
            places[*code as usize] = place;
        }
        (words.into_iter().map(|(word, _)| word).collect(), places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(cells: &[&str]) -> (Vec<String>, Vec<u32>) {
        let mut words = Words::default();
        let codes: Vec<u32> = cells.iter().map(|cell| words.code(Cell::of_text(cell))).collect();
        let (sorted, places) = words.sorted();
        (sorted, codes.iter().map(|code| places[*code as usize]).collect())
    }

    #[test]
    fn categories_are_sorted_by_size_if_all_are_numbers() {
        assert_eq!(sorted(&["10", "9", "10", "1"]), (vec!["1".into(), "9".into(), "10".into()], vec![2, 1, 2, 0]));
        assert_eq!(sorted(&["10", "9", "x"]), (vec!["10".into(), "9".into(), "x".into()], vec![0, 1, 2]));
        assert_eq!(sorted(&["b", "?", "a", "NA"]), (vec!["a".into(), "b".into(), "?".into()], vec![1, 2, 0, 2]));
    }
}
