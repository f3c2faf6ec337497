use protolink::prelude::*;
use protolink::HistoryMut;

#[before_model]
fn edits_in_place(request: &mut ModelRequest<'_>) {
    request.history().iter_mut(); // wrong
    request.history().get_mut(0); // wrong
    request.history().set_len(0); // wrong
    request.history().truncate(0); // wrong
    request.history().append(&mut Vec::new()); // wrong
    request.history().as_mut_vec(); // wrong
}

#[before_model]
fn takes_it_out(request: &mut ModelRequest<'_>) {
    let _: Vec<Message> = request.history().into(); // wrong
    let _: &mut Vec<Message> = &mut *request.history(); // wrong
    let _: Vec<Message> = *request.history(); // wrong
    let _ = request.draft; // wrong
}

#[before_model]
fn puts_another_in(request: &mut ModelRequest<'_>) {
    request.set_history(Vec::<Message>::new()); // wrong
    request.history_mut().clear(); // wrong
    let _: HistoryMut<'static> = Default::default(); // wrong
    let _: HistoryMut<'_> = Vec::<Message>::new().into_iter().collect(); // wrong
}

#[before_model]
fn changes_a_message(request: &mut ModelRequest<'_>) {
    request.history().edit(0, |message| message.role = "system"); // wrong
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![edits_in_place, takes_it_out, puts_another_in, changes_a_message]);
}
