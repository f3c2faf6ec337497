//! What the loop adds to a streamed answer, chunk by chunk: the same stream is read bare and through a run, in turns, so
//! that the machine's moods cancel out. Says `missed`, and ends with an error, when it adds more than it may.

use std::hint::black_box;
use std::pin::Pin;
use std::process::ExitCode;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_core::Stream;
use protolink::Agent;
use protolink::RunEvent;
use protolink::async_trait;
use protolink::model::{ChunkSink, Model, ModelError, ModelId, ModelReply, PreparedRequest};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const CHUNKS: u32 = 100_000;
const ROUNDS: usize = 9;
const LIMIT: Duration = Duration::from_micros(2);
/// As long as a word and its space.
const CHUNK: &str = "lamps, ";
/// How many chunks come with one read of a socket.
const AT_ONCE: u32 = 20;

/// A stream of chunks, as a provider's is: some are ready, then it waits.
struct Chunks {
    left: u32,
    ready: u32,
}

impl Chunks {
    fn new() -> Self {
        Self { left: CHUNKS, ready: AT_ONCE }
    }

    async fn next(&mut self) -> Option<String> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl Stream for Chunks {
    type Item = String;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<String>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        if self.ready == 0 {
            self.ready = AT_ONCE;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.left -= 1;
        self.ready -= 1;
        Poll::Ready(Some(CHUNK.to_owned()))
    }
}

struct Streaming;

#[async_trait]
impl Model for Streaming {
    fn id(&self) -> ModelId {
        ModelId::new("bench", "streaming")
    }

    async fn respond(&self, _: &PreparedRequest<'_>, sink: &mut ChunkSink<'_>) -> Result<ModelReply, ModelError> {
        let (mut chunks, mut text) = (Chunks::new(), String::new());
        while let Some(chunk) = chunks.next().await {
            sink.text(&chunk);
            text.push_str(&chunk);
        }
        Ok(ModelReply::text(text))
    }
}

async fn bare() -> Duration {
    let start = Instant::now();
    let (mut chunks, mut text, mut count) = (Chunks::new(), String::new(), 0_u32);
    while let Some(chunk) = chunks.next().await {
        text.push_str(black_box(&chunk));
        count += 1;
    }
    assert_eq!(count, CHUNKS);
    black_box(text);
    start.elapsed()
}

async fn through_the_loop(agent: &Agent) -> Outcome<Duration> {
    let start = Instant::now();
    let (mut stream, mut count, mut length) = (agent.run("go").stream(), 0_u32, 0);
    while let Some(event) = stream.next().await {
        match black_box(event?) {
            RunEvent::TextDelta { text, .. } => {
                count += 1;
                length += text.len();
            }
            RunEvent::Completed(answer) => assert_eq!(answer.text().len(), length),
            _ => {}
        }
    }
    assert_eq!(count, CHUNKS);
    Ok(start.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn main() -> Outcome<ExitCode> {
    let agent = Agent::builder("bench")
        .model(Streaming)
        .before_complete("check", |_: &mut protolink::FinalResponse<'_>| ())
        .build()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut bare_times, mut loop_times) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bare_times.push(runtime.block_on(bare()));
        loop_times.push(runtime.block_on(through_the_loop(&agent))?);
    }
    let (bare, through) = (median(bare_times) / CHUNKS, median(loop_times) / CHUNKS);
    let added = through.saturating_sub(bare);
    let kept = added <= LIMIT;
    let verdict = if kept { "kept" } else { "missed" };
    println!(
        "a streamed chunk: {added:?} added (limit {LIMIT:?}) {verdict}; {through:?} through the loop, {bare:?} bare"
    );
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
