//! The ways in which a run can be driven.

use protolink::{Agent, Answer, Error, Outcome, RunEvent, RunStream};

/// How a run is driven; a promise holds on each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// `agent.run(..).await`.
    Plain,
    /// `agent.run(..).stream()`, read to its end.
    Streamed,
    /// `agent.run(..).start()`, with nobody reading the events.
    Started,
    /// A run of a conversation.
    Conversation,
    /// A streamed run of a conversation.
    StreamedConversation,
    /// `agent.blocking()`, on a thread without a runtime.
    Blocking,
}

/// How a run ended, and what was seen of it on the way.
#[derive(Debug)]
pub struct Ended {
    /// The answer, or why there is none.
    pub result: Result<Answer, Error>,
    /// The events, where the path has a stream.
    pub events: Vec<RunEvent>,
}

impl Path {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Plain, Self::Streamed, Self::Started, Self::Conversation, Self::StreamedConversation, Self::Blocking];

    /// Runs the prompt in this way.
    ///
    /// # Panics
    /// Where a thread cannot be joined, or a run pauses that is not to pause.
    pub async fn run(self, agent: &Agent, prompt: &str) -> Ended {
        match self {
            Self::Plain => Ended::quiet(agent.run(prompt).await.and_then(answered)),
            Self::Streamed => drain(agent.run(prompt).stream()).await,
            Self::Started => Ended::quiet(agent.run(prompt).start().result().await.and_then(answered)),
            Self::Conversation => Ended::quiet(agent.conversation().invoke(prompt).await),
            Self::StreamedConversation => drain(agent.conversation().run(prompt).stream()).await,
            Self::Blocking => {
                let (agent, prompt) = (agent.clone(), prompt.to_owned());
                let thread = std::thread::spawn(move || agent.blocking().invoke(prompt));
                Ended::quiet(thread.join().expect("the blocking run does not panic"))
            }
        }
    }
}

impl Ended {
    fn quiet(result: Result<Answer, Error>) -> Self {
        Self { result, events: Vec::new() }
    }
}

fn answered(outcome: Outcome) -> Result<Answer, Error> {
    match outcome {
        Outcome::Completed(answer) => Ok(answer),
        Outcome::Interrupted(interruption) => Err(Error::Interrupted(Box::new(interruption))),
    }
}

/// Reads a stream to its end, and checks that it ends once.
///
/// # Panics
/// Where something comes after the end, or the end is missing.
pub async fn drain(mut stream: RunStream<'_>) -> Ended {
    let (mut events, mut result) = (Vec::new(), None);
    while let Some(item) = stream.next().await {
        assert!(result.is_none(), "nothing comes after the end: {item:?}");
        match item {
            Ok(event) => {
                result = match &event {
                    RunEvent::Completed(answer) => Some(Ok(answer.clone())),
                    RunEvent::Interrupted(interruption) => Some(Err(Error::Interrupted(interruption.clone()))),
                    _ => None,
                };
                events.push(event);
            }
            Err(error) => result = Some(Err(error)),
        }
    }
    Ended { result: result.expect("a stream says how its run ended"), events }
}
