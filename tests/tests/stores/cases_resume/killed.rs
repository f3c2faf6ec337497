//! R43, R63, R69, R70: a process that dies anywhere costs no step, no edit and no answer, and repeats no effect.

use protolink::prelude::*;
use protolink_tests::Log;
use protolink_tests::durable::{Mishap, Outcome, Place, Watched, on_both};

use super::payer::{Killer, Point, Record, finish, payer, said, script};

/// What is said in a run that nothing interrupts.
const SAID: [&str; 7] = [
    "pay",
    "note 1",
    r#"{"paid":true,"receipt":"hidden"}"#,
    "note 2",
    r#"{"paid":true,"receipt":"hidden"}"#,
    "note 3",
    "checked: paid",
];

/// How the process ends that starts the run.
enum End {
    At(Point, usize),
    Commit(u64, Mishap),
}

/// Starts a run in a process that ends like this, and finishes it in another; checks what must be seen of it.
async fn dies_and_goes_on(place: &Place, end: &End) -> Outcome {
    let (record, model) = (Record::default(), script());
    let (killer, watched) = match end {
        End::At(point, time) => (Killer::at(*point, *time), Watched::new(place.store()?)),
        End::Commit(at, mishap) => (Killer::default(), Watched::with_mishap(place.store()?, *at, *mishap)),
    };
    let replies_then = {
        let agent = payer(&record, &model, &killer).durable(watched.clone()).build()?;
        let mut conversation = agent.conversation_id("c").await?;
        let run = watched.until_death(killer.until_killed(async { conversation.run("pay").run_id("r").await }));
        assert!(matches!(run.await, None | Some(None)), "the process died");
        model.request_count()
    };
    place.outlive_leases();
    let before = record.hooks.lines().len();
    let agent = payer(&record, &model, &Killer::default()).durable(place.store()?).build()?;
    if watched.rows().is_empty() {
        // Nothing was begun, so there is nothing to go on with.
        agent.resume("r").await.expect_err("there is no run");
        return Ok(());
    }
    let (answer, not_done) = finish(&agent, &record.effects).await?;
    assert_eq!(answer, "checked: paid");
    assert_eq!(record.effects.count("pay") + not_done, 2, "an effect happens once, or is known not to have happened");
    let said = said(&agent.conversation_id("c").await?);
    // An action of which the application said that it did not happen is told so.
    let expected: Vec<String> = SAID.iter().map(|text| (*text).to_owned()).collect();
    let truthful: Vec<String> = said.iter().map(|text| text.replace("\"paid\":false", "\"paid\":true")).collect();
    assert_eq!(truthful, expected, "each edit is there once, and nothing that was received is lost");
    // The steps go on where the last commit left them: none is burnt, none comes twice with another number.
    let lines = record.hooks.lines();
    let steps = lines.iter().filter_map(|line| line.strip_prefix("note ")).map(|step| step.parse::<u32>().unwrap_or(0));
    let steps: Vec<u32> = steps.collect();
    assert!(steps.windows(2).all(|pair| pair[1] == pair[0] || pair[1] == pair[0] + 1), "{steps:?}");
    assert_eq!(steps.last(), Some(&3));
    // What hooks are shown again is the true result, not what an earlier call made of it.
    assert!(!lines[before..].iter().any(|line| line.contains("hidden")), "{lines:?}");
    if watched.rows().iter().any(|row| row.contains(r#"{"final":"paid"}"#)) {
        assert_eq!(model.request_count(), replies_then, "a committed reply is not asked for again");
    }
    Ok(())
}

/// How often each point is passed in a run that nothing interrupts.
const POINTS: [(Point, usize); 10] = [
    (Point::BeforeEdits, 3),
    (Point::AfterEdits, 3),
    (Point::BeforeModel, 3),
    (Point::AfterModel, 3),
    (Point::BeforeEffect, 2),
    (Point::AfterEffect, 2),
    (Point::BeforeShaping, 2),
    (Point::AfterShaping, 2),
    (Point::BeforeCheck, 1),
    (Point::AfterCheck, 1),
];

#[tokio::test]
async fn d2_r70_no_step_is_burnt_no_edit_doubled_no_answer_lost_at_any_point() -> Outcome {
    for (point, times) in POINTS {
        for time in 1..=times {
            on_both(async |place| {
                let end = End::At(point, time);
                dies_and_goes_on(place, &end).await.map_err(|error| format!("{point:?} {time}: {error}").into())
            })
            .await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn d2_r43_no_commit_is_a_bad_one_to_die_at() -> Outcome {
    // The start, two tool steps of a reply and a receipt, the reply that answers, the end.
    for at in 1..=7 {
        for mishap in [Mishap::DiesBefore, Mishap::DiesAfter] {
            on_both(async |place| {
                let end = End::Commit(at, mishap);
                dies_and_goes_on(place, &end).await.map_err(|error| format!("{mishap:?} {at}: {error}").into())
            })
            .await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn d10_r63_a_step_that_dies_in_its_request_keeps_its_number_and_counts_once() -> Outcome {
    on_both(async |place| {
        let (record, model) = (Record::default(), script());
        let killer = Killer::at(Point::BeforeModel, 2);
        let agent = payer(&record, &model, &killer).durable(place.store()?).build()?;
        assert!(killer.until_killed(async { agent.run("pay").run_id("r").await }).await.is_none());
        drop(agent);
        place.outlive_leases();
        // Three steps are all that the budget allows, and the run needs three.
        let agent = payer(&record, &model, &Killer::default()).durable(place.store()?).build()?;
        assert_eq!(finish(&agent, &record.effects).await?, ("checked: paid".to_owned(), 0));
        let notes: Vec<String> = record.hooks.lines().into_iter().filter(|line| line.starts_with("note")).collect();
        assert_eq!(notes, ["note 1", "note 2", "note 2", "note 3"]);
        let requests = model.requests();
        let second = requests.iter().find(|request| request.messages.len() == 4).ok_or("a second step")?;
        let texts: Vec<&str> = second.messages.iter().filter_map(|message| message.text()).collect();
        assert_eq!(texts, ["pay", "note 1", "note 2"], "the edit of the killed step is there once");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn f3_r69_an_answer_that_was_checked_is_the_answer() -> Outcome {
    // The reply is committed as the sixth, the checked answer as the seventh.
    for (end, asks_again) in [
        (End::Commit(6, Mishap::DiesAfter), false),
        (End::At(Point::BeforeCheck, 1), false),
        (End::At(Point::AfterCheck, 1), false),
        (End::Commit(7, Mishap::DiesBefore), false),
        (End::Commit(7, Mishap::DiesAfter), false),
        (End::Commit(6, Mishap::DiesBefore), true),
    ] {
        for place in [Place::memory(), Place::file()?] {
            let (record, model) = (Record::default(), script());
            let (killer, watched) = match end {
                End::At(point, time) => (Killer::at(point, time), Watched::new(place.store()?)),
                End::Commit(at, mishap) => (Killer::default(), Watched::with_mishap(place.store()?, at, mishap)),
            };
            let agent = payer(&record, &model, &killer).durable(watched.clone()).build()?;
            let events = Log::new();
            let run = async {
                let mut stream = agent.run("pay").run_id("r").stream();
                while let Some(event) = stream.next().await {
                    if let Ok(RunEvent::Completed(answer)) = event {
                        events.add(answer.text());
                    }
                }
            };
            assert!(matches!(watched.until_death(killer.until_killed(run)).await, None | Some(None)));
            assert!(events.lines().is_empty(), "nothing is announced that is not committed and out");
            let asked = model.request_count();
            place.outlive_leases();
            let agent = payer(&record, &model, &Killer::default()).durable(place.store()?).build()?;
            let outcome = agent.resume("r").await?;
            assert_eq!(outcome.answer().map(Answer::text), Some("checked: paid"));
            assert_eq!(model.request_count() - asked, usize::from(asks_again), "in {}", place.name());
        }
    }
    Ok(())
}
