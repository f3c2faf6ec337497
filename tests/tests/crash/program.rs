//! What the scripted agent does: programs that parent and child both know.

use protolink::Message;
use protolink::testing::{RecordedRequest, Reply};
use serde_json::json;

/// One call of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// An effect that must not happen twice.
    Plain,
    /// An effect that may be repeated under its action.
    Again,
    /// An effect that a hook takes away in some processes.
    Forbidden,
    /// An effect that a person approves.
    Approved,
    /// An effect that a person rejects.
    Rejected,
    /// A question to the user.
    Ask,
    /// An effect whose tool fails afterwards, and says so to the model.
    Fails,
    /// A tool that refuses.
    Refuses,
    /// An effect in the middle of which the run is cancelled.
    Stop,
}

impl Step {
    pub(crate) fn tool(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Again => "again",
            Self::Forbidden => "forbidden",
            Self::Approved | Self::Rejected => "guarded",
            Self::Ask => "ask_user",
            Self::Fails => "fails",
            Self::Refuses => "refuses",
            Self::Stop => "stop",
        }
    }
}

/// The turns of one run, before its answer.
pub(crate) type Program = Vec<Vec<Step>>;

/// Which programs the runs of a conversation are, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Programs {
    /// These, one after another.
    Listed(Vec<Program>),
    /// Any, as the seed has it.
    Random(u64),
}

impl Programs {
    pub(crate) fn of(&self, number: usize) -> Program {
        match self {
            Self::Listed(programs) => programs.get(number).cloned().unwrap_or_default(),
            Self::Random(seed) => random(&mut Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64))),
        }
    }

    /// As text, for the child.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Random(seed) => format!("random {seed}"),
            Self::Listed(programs) => {
                let turn = |turn: &Vec<Step>| turn.iter().map(|step| letter(*step)).collect::<String>();
                let program = |program: &Program| program.iter().map(turn).collect::<Vec<_>>().join(",");
                format!("listed {}", programs.iter().map(program).collect::<Vec<_>>().join(";"))
            }
        }
    }

    pub(crate) fn from_text(text: &str) -> Self {
        let (kind, rest) = text.split_once(' ').expect("programs have a kind");
        if kind == "random" {
            return Self::Random(rest.parse().expect("a seed is a number"));
        }
        let turn = |turn: &str| turn.chars().map(step).collect();
        Self::Listed(rest.split(';').map(|program| program.split(',').map(turn).collect()).collect())
    }
}

const LETTERS: [(Step, char); 9] = [
    (Step::Plain, 'p'),
    (Step::Again, 'g'),
    (Step::Forbidden, 'f'),
    (Step::Approved, 'a'),
    (Step::Rejected, 'r'),
    (Step::Ask, 'q'),
    (Step::Fails, 'x'),
    (Step::Refuses, 'n'),
    (Step::Stop, 's'),
];

fn letter(step: Step) -> char {
    LETTERS.iter().find(|(known, _)| *known == step).expect("every step has a letter").1
}

fn step(letter: char) -> Step {
    LETTERS.iter().find(|(_, known)| *known == letter).expect("every letter is a step").0
}

fn random(random: &mut Random) -> Program {
    let mut program: Program =
        (0..random.below(4)).map(|_| (0..=random.below(3)).map(|_| LETTERS[random.below(8)].0).collect()).collect();
    if random.below(6) == 0 {
        let mut last = vec![Step::Stop];
        if random.below(2) == 0 {
            last.insert(0, Step::Plain);
        }
        program.push(last);
    }
    program
}

/// Numbers that look random and are the same for the same seed (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("it is below the limit")
    }
}

/// How the run of this number is prompted.
pub(crate) fn prompt(number: usize) -> String {
    format!("program {number}")
}

/// What the run of this number answers, before it is checked.
pub(crate) fn answer(number: usize) -> String {
    format!("answer {number}")
}

/// The identifier of a call.
pub(crate) fn call_id(number: usize, turn: usize, index: usize) -> String {
    format!("c{number}_{turn}_{index}")
}

/// What the model replies: it depends on nothing but the request.
pub(crate) fn reply(programs: &Programs, request: &RecordedRequest) -> Reply {
    let text = |message: &Message| message.text().and_then(|text| text.strip_prefix("program ")?.parse::<usize>().ok());
    let begins = request.messages.iter().rposition(|message| message.is_user() && text(message).is_some());
    let begins = begins.expect("a run begins with its program");
    let number = text(&request.messages[begins]).expect("it was found by its number");
    let turn = request.messages[begins..].iter().filter(|message| message.is_assistant()).count();
    let program = programs.of(number);
    let Some(steps) = program.get(turn) else { return Reply::text(answer(number)) };
    Reply::calls(steps.iter().enumerate().map(|(index, step)| {
        let arguments = match step {
            Step::Ask => json!({ "question": "Which colour?" }),
            Step::Approved | Step::Rejected => json!({ "yes": *step == Step::Approved }),
            _ => json!({ "n": index }),
        };
        Reply::call_with_id(call_id(number, turn, index), step.tool(), arguments)
    }))
}
