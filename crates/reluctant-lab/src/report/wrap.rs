//! Text that fits a terminal.

/// `text` in lines of at most `columns` letters, broken between words; the first line begins with `first`, the others
/// with `rest`. A word that is longer than a line is cut. No line ends in a space, and the last has no line break.
pub fn wrap(text: &str, columns: usize, first: &str, rest: &str) -> String {
    let (mut done, mut line, mut empty) = (Vec::new(), first.to_owned(), true);
    let indent = rest.chars().count();
    // However narrow, a line takes something.
    let columns = columns.max(indent + 4).max(first.chars().count() + 4);
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut word: Vec<char> = word.chars().collect();
        let room = |line: &String, empty: bool| columns.saturating_sub(line.chars().count() + usize::from(!empty));
        if !empty && word.len() > room(&line, empty) {
            done.push(std::mem::replace(&mut line, rest.to_owned()));
            empty = true;
        }
        while word.len() > room(&line, empty) {
            let tail = word.split_off(room(&line, empty).max(1));
            line.extend(std::mem::replace(&mut word, tail));
            done.push(std::mem::replace(&mut line, rest.to_owned()));
        }
        if !empty {
            line.push(' ');
        }
        line.extend(word);
        empty = false;
    }
    done.push(line);
    done.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_nothing_is_lost() {
        let text = "a policy with averyveryverylongname and an end";
        for columns in 1..60 {
            let wrapped = wrap(text, columns, "* ", "  ");
            assert!(wrapped.lines().all(|line| line.chars().count() <= columns.max(6)), "{columns}: {wrapped}");
            assert!(wrapped.lines().all(|line| line == line.trim_end()));
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace() && *c != '*').collect::<String>();
            assert_eq!(letters(&wrapped), letters(text));
        }
        assert_eq!(wrap("one two three", 9, "", ""), "one two\nthree");
        assert_eq!(wrap("", 9, "- ", "  "), "-");
    }
}
