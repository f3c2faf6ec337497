//! Makes a request fit: what the context policy leaves out of it, and what it shows in part.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::sync::Arc;

use super::artifact::{ArtifactIds, READ_ARTIFACT, is_artifact};
use super::manifest::{ContextManifest, ContextOverflow};
use super::policy::ContextPolicy;
use super::preview::{cleared, preview, with_text};
use crate::history::Sizes;
use crate::message::{Message, OutcomeSize, OutcomeText, ToolOutcome, estimate_text};
use crate::tool::ToolSpec;

/// A request as the hooks left it.
pub(crate) struct Unshaped<'s> {
    pub(crate) system: &'s str,
    pub(crate) tools: &'s [Arc<ToolSpec>],
    pub(crate) tool_tokens: u64,
    pub(crate) answer_tokens: u64,
    pub(crate) messages: &'s [Arc<Message>],
    /// The sizes of the messages, measured.
    pub(crate) sizes: &'s Sizes,
    /// The message with which the run's own turn begins.
    pub(crate) turn_begins: usize,
}

impl Unshaped<'_> {
    /// The estimated size of the whole.
    pub(crate) fn tokens(&self) -> u64 {
        self.manifest().total_tokens()
    }

    fn manifest(&self) -> ContextManifest {
        ContextManifest {
            system_tokens: estimate_text(self.system),
            tool_tokens: self.tool_tokens,
            answer_tokens: self.answer_tokens,
            message_tokens: self.sizes.total(),
            messages: self.messages.len(),
            ..ContextManifest::default()
        }
    }
}

/// A request that fits.
pub(crate) struct Shaped {
    /// The messages to send, where they are not the conversation's own.
    pub(crate) messages: Option<Vec<Arc<Message>>>,
    /// What it is made of, where that was asked.
    pub(crate) manifest: Option<ContextManifest>,
}

impl Shaped {
    /// The conversation as it is, unmeasured.
    pub(crate) fn untouched() -> Self {
        Self { messages: None, manifest: None }
    }

    fn whole(manifest: ContextManifest) -> Self {
        Self { messages: None, manifest: Some(manifest) }
    }

    /// The estimated size of the request, where it was measured.
    pub(crate) fn tokens(&self) -> Option<u64> {
        self.manifest.as_ref().map(ContextManifest::total_tokens)
    }
}

/// Makes a request fit the policy: long results are shown in part, old turns are left out, and where that is not
/// enough, results are cleared, the oldest first.
pub(crate) fn shape(policy: Option<&ContextPolicy>, request: &Unshaped<'_>) -> Result<Shaped, ContextOverflow> {
    let mut manifest = request.manifest();
    let Some(policy) = policy else { return Ok(Shaped::whole(manifest)) };
    let available = policy.max_tokens.saturating_sub(policy.reserve_tokens);
    if manifest.total_tokens() <= available && !has_long_result(policy, request) {
        return Ok(Shaped::whole(manifest));
    }
    let beside = manifest.total_tokens() - manifest.message_tokens;
    let mut window = Window::new(policy, request);
    window.take_protected();
    // A user message is never free, so that what leaves no room at all does not fit either.
    let room = available.saturating_sub(beside);
    if window.tokens > room {
        window.clear_down_to(room);
    } else {
        window.take_older(room);
    }
    if window.tokens > room {
        return Err(ContextOverflow { needed: beside + window.tokens, available });
    }
    manifest.message_tokens = window.tokens;
    manifest.messages = window.pieces.len();
    manifest.messages_dropped = window.begins;
    manifest.results_offloaded = window.pieces.iter().map(|piece| piece.previews.len()).sum();
    manifest.results_cleared = window.pieces.iter().map(|piece| piece.cleared).sum();
    let messages = window.pieces.into_iter().map(|piece| piece.message).collect();
    Ok(Shaped { messages: Some(messages), manifest: Some(manifest) })
}

fn has_long_result(policy: &ContextPolicy, request: &Unshaped<'_>) -> bool {
    policy.max_result_chars.is_some_and(|limit| {
        let mut messages = 0..request.messages.len();
        messages.any(|index| request.sizes.outcomes(index).iter().any(|outcome| outcome.chars > limit))
    })
}

/// The newest messages of a request, from some message on.
struct Window<'s> {
    policy: &'s ContextPolicy,
    request: &'s Unshaped<'s>,
    /// Whether the step has the tool that reads what is not shown.
    has_reader: bool,
    ids: OnceCell<ArtifactIds<'s>>,
    /// The first message that is in it.
    begins: usize,
    pieces: VecDeque<Piece>,
    tokens: u64,
}

/// A message as it is sent.
struct Piece {
    message: Arc<Message>,
    tokens: u64,
    /// The calls whose results are shown in part.
    previews: Vec<usize>,
    /// How many results were cleared.
    cleared: usize,
}

impl<'s> Window<'s> {
    fn new(policy: &'s ContextPolicy, request: &'s Unshaped<'s>) -> Self {
        let has_reader = request.tools.iter().any(|tool| tool.name() == READ_ARTIFACT);
        let (ids, begins) = (OnceCell::new(), request.messages.len());
        Self { policy, request, has_reader, ids, begins, pieces: VecDeque::new(), tokens: 0 }
    }

    /// Takes in what is never left out: the run's own turn, and as many before it as the policy says.
    fn take_protected(&mut self) {
        let mut begins = self.request.turn_begins;
        for _ in 1..self.policy.preserve_recent {
            if begins == 0 {
                break;
            }
            begins = self.turn_before(begins);
        }
        let pieces = self.pieces_from(begins);
        self.take(begins, pieces);
    }

    /// Takes older turns in, the newest first, for as long as they fit.
    fn take_older(&mut self, room: u64) {
        while self.begins > 0 {
            let begins = self.turn_before(self.begins);
            let pieces = self.pieces_from(begins);
            let tokens = pieces.iter().map(|piece| piece.tokens).sum::<u64>();
            if self.tokens.saturating_add(tokens) > room {
                return;
            }
            self.take(begins, pieces);
        }
    }

    /// Clears results, the oldest first, until the window fits, or there are none left.
    fn clear_down_to(&mut self, room: u64) {
        for offset in 0..self.pieces.len() {
            let message = self.begins + offset;
            for call in 0..self.request.messages[message].calls().len() {
                if self.tokens <= room {
                    return;
                }
                self.clear(offset, message, call);
            }
        }
    }

    fn clear(&mut self, offset: usize, message: usize, call: usize) {
        let original = &self.request.messages[message].calls()[call];
        if OutcomeText::of(&original.outcome).is_none() {
            return;
        }
        let chars = self.request.sizes.outcomes(message)[call].chars;
        let note = with_text(&original.outcome, cleared(chars, self.artifact(message, call).as_deref()));
        let piece = &mut self.pieces[offset];
        let now = match piece.previews.iter().position(|preview| *preview == call) {
            Some(_) => OutcomeSize::of(&piece.message.calls()[call].outcome).tokens,
            None => self.request.sizes.outcomes(message)[call].tokens,
        };
        if OutcomeSize::of(&note).tokens >= now {
            return;
        }
        self.tokens -= piece.tokens;
        piece.show(call, now, note);
        piece.previews.retain(|preview| *preview != call);
        piece.cleared += 1;
        self.tokens += piece.tokens;
    }

    fn take(&mut self, begins: usize, pieces: Vec<Piece>) {
        self.begins = begins;
        self.tokens += pieces.iter().map(|piece| piece.tokens).sum::<u64>();
        for piece in pieces.into_iter().rev() {
            self.pieces.push_front(piece);
        }
    }

    /// Where the turn before this one begins: a user message and everything up to the next.
    fn turn_before(&self, begins: usize) -> usize {
        self.request.messages[..begins].iter().rposition(|message| message.is_user()).unwrap_or(0)
    }

    /// The messages from here to where the window begins, with long results shown in part.
    fn pieces_from(&self, begins: usize) -> Vec<Piece> {
        (begins..self.begins).map(|message| self.piece(message)).collect()
    }

    fn piece(&self, message: usize) -> Piece {
        let original = &self.request.messages[message];
        let tokens = self.request.sizes.tokens(message);
        let mut piece = Piece { message: Arc::clone(original), tokens, previews: Vec::new(), cleared: 0 };
        let Some(limit) = self.policy.max_result_chars else { return piece };
        let sizes = self.request.sizes.outcomes(message);
        for (call, (exchange, size)) in original.calls().iter().zip(sizes).enumerate() {
            let text = OutcomeText::of(&exchange.outcome).filter(|_| size.chars > limit && is_artifact(exchange));
            let Some(text) = text else { continue };
            let artifact = self.artifact(message, call);
            let shown = preview(text, size.chars, limit, artifact.as_deref());
            piece.show(call, size.tokens, with_text(&exchange.outcome, shown));
            piece.previews.push(call);
        }
        piece
    }

    /// The id under which the model can read the result of this call; `None` where it cannot.
    fn artifact(&self, message: usize, call: usize) -> Option<String> {
        let exchange = &self.request.messages[message].calls()[call];
        if !self.has_reader || !is_artifact(exchange) {
            return None;
        }
        let ids = self.ids.get_or_init(|| ArtifactIds::of(self.request.messages));
        Some(ids.id(message, call, &exchange.call.id))
    }
}

impl Piece {
    /// Shows another outcome for the call, in place of one that counts `before` tokens.
    fn show(&mut self, call: usize, before: u64, outcome: ToolOutcome) {
        self.tokens = self.tokens.saturating_sub(before) + OutcomeSize::of(&outcome).tokens;
        if let Message::Assistant(turn) = Arc::make_mut(&mut self.message) {
            turn.calls[call].outcome = outcome;
        }
    }
}
