//! What the tables' columns mean, in plain words.

/// Every column with its meaning.
pub(super) const COLUMNS: &[(&str, &str)] = &[
    (
        "Regret",
        "In each round, the mean reward of the best arm on offer minus that of the arm chosen; added up over all \
         rounds of a trial. Lower is better, and 0 is perfect.",
    ),
    (
        "Mean ± 95 %",
        "The average over trials, and half the width of its 95 % interval (Student’s t). A few failed trials can carry \
         the mean: look at the median, too.",
    ),
    ("Median", "Half of the trials pay less than this, half pay more."),
    ("10–90 %", "One trial in ten pays less than the first number, one in ten more than the second."),
    (
        "Trials still linear",
        "The share of trials that pay about as much in each late round as before, and at least 1 % of what random \
         choice would pay. It counts trials and does not say how much they pay: a small share beside a low slope and a \
         low regret means that a few trials settled for an arm slightly below the best, not that the policy failed; a \
         large share beside a slope near 1 means that it did not learn. Precisely: with R(t) the regret after t of T \
         rounds, a trial is counted if log₂((R(T) − R(T/2)) / (R(T/2) − R(T/4))) ≥ 0.8; growth like √t would give ½, \
         logarithmic growth 0.",
    ),
    (
        "Slope",
        "The slope of the mean curve on logarithmic axes over the last two decades, from T/100 (but not before round \
         10) to T: 1 is linear growth, ½ is growth like √t. What was paid early flattens it.",
    ),
    ("µs a round", "Time to choose and to learn, in millionths of a second, without the environment’s own."),
    (
        "Paid beyond the best",
        "Policies met the same arms and the same noise in trials of the same number, so they are compared trial by \
         trial: the mean difference from the policy with the lowest mean, with its 95 % interval. “Could be chance” is \
         yes where that interval holds 0, so that the two may be equally good. “Paid less in” is the share of trials \
         in which the policy beat that best one.",
    ),
    (
        "Tuned",
        "Parameters chosen on trials of their own, which are not among those reported: of all values in the grid, \
         those with the lowest mean regret. Where the best value is the smallest or the largest of its list, a better \
         one may lie beyond it.",
    ),
];

/// What the theory's figure and table show.
pub(super) const THEORY: &str = "The theorems bound the expected regret by the cost of exploration plus that of the \
    optimistic stage after it. The exploration that they ask for is astronomically long, so that their whole bound \
    says less than k·T, which no play exceeds, since mean rewards lie between 0 and k; the policies here explore for \
    far fewer rounds. The bound on the optimistic stage alone, once the activations are known, grows like √t up to \
    logarithms and can be held against what was paid. All is for the whole sphere of actions, for the gap ν* = 1/(2k), \
    below which no network’s lies, and for neurons as far apart as k of them can be.";
