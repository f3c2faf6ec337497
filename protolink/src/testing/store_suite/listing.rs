//! Rules about listings: every run once, in the order of creation.

use std::time::Duration;

use super::rules;
use super::trial::{LONG, Trial, Verdict, ensure, row, unexpected};
use crate::durable::{Cursor, NewRun, Order, Page, RunFilter, RunPage, RunState, StoreError};
use crate::ids::RunId;

rules![
    runs_are_listed_in_the_order_of_creation,
    a_listed_run_is_as_it_is_loaded,
    pages_follow_each_other_without_gap_or_overlap,
    a_listing_stands_while_runs_come_and_go,
    each_filter_lets_through_what_it_says,
    filters_hold_on_every_page,
    a_foreign_cursor_is_refused,
];

async fn list(trial: &Trial, filter: &RunFilter, page: Page) -> Result<RunPage, String> {
    trial.store.list(filter, page).await.map_err(unexpected("list"))
}

fn ids(page: &RunPage) -> Vec<&str> {
    page.runs.iter().map(|run| run.run_id.as_str()).collect()
}

async fn expect(trial: &Trial, filter: &RunFilter, expected: &[&str]) -> Verdict {
    let page = list(trial, filter, Page::first(100)).await?;
    ensure(ids(&page) == expected, || format!("{filter:?} lists {:?}", ids(&page)))?;
    ensure(page.next.is_none(), || "the last page has a next one".to_owned())?;
    let page = list(trial, filter, Page::newest(100)).await?;
    let reversed: Vec<_> = expected.iter().rev().copied().collect();
    ensure(ids(&page) == reversed, || format!("newest first, {filter:?} lists {:?}", ids(&page)))
}

async fn runs_are_listed_in_the_order_of_creation(trial: &Trial) -> Verdict {
    expect(trial, &RunFilter::new(), &[]).await?;
    for id in ["m", "z", "a"] {
        trial.create(id, LONG).await?;
    }
    // The order is the store's, not the clock's.
    if let Some(clock) = trial.clock() {
        clock.rewind(Duration::from_hours(1));
    }
    let last = trial.create("k", LONG).await?;
    trial.append(&last, 2).await?;
    expect(trial, &RunFilter::new(), &["m", "z", "a", "k"]).await
}

async fn a_listed_run_is_as_it_is_loaded(trial: &Trial) -> Verdict {
    let mut run = NewRun::new("a", "agent");
    run.conversation = Some("c".to_owned());
    run.labels.insert("key".to_owned(), "value".to_owned());
    let lease = trial.store.create(run, row("a", 1), LONG).await.map_err(unexpected("create"))?;
    trial.tick().await;
    trial.end(lease, 1).await?;
    let listed = list(trial, &RunFilter::new(), Page::first(1)).await?;
    let loaded = trial.load("a").await?.summary;
    ensure(listed.runs == [loaded.clone()], || format!("{loaded:?} is listed as {listed:?}"))
}

async fn pages_follow_each_other_without_gap_or_overlap(trial: &Trial) -> Verdict {
    let names: Vec<_> = (0..7).map(|number| format!("run {number}")).collect();
    for name in &names {
        trial.create(name, LONG).await?;
    }
    for order in [Order::OldestFirst, Order::NewestFirst] {
        for limit in [0, 1, 2, 3, 6, 7, 8, u32::MAX] {
            let mut page = if order == Order::OldestFirst { Page::first(limit) } else { Page::newest(limit) };
            let mut seen = Vec::new();
            loop {
                let found = list(trial, &RunFilter::new(), page.clone()).await?;
                // A page of none could never go on.
                let most = usize::try_from(limit.max(1)).unwrap_or(usize::MAX);
                ensure(found.runs.len() <= most, || format!("a page of {limit} has {}", found.runs.len()))?;
                seen.extend(ids(&found).into_iter().map(str::to_owned));
                ensure(seen.len() <= names.len(), || format!("pages of {limit} show {seen:?}"))?;
                match found.next {
                    Some(next) => page = page.after(next),
                    None => break,
                }
            }
            if order == Order::NewestFirst {
                seen.reverse();
            }
            ensure(seen == names, || format!("pages of {limit}, {order:?}, show {seen:?}"))?;
        }
    }
    Ok(())
}

async fn a_listing_stands_while_runs_come_and_go(trial: &Trial) -> Verdict {
    for id in ["a", "b", "c", "d"] {
        let lease = trial.create(id, LONG).await?;
        trial.release(lease).await?;
    }
    let first = list(trial, &RunFilter::new(), Page::first(2)).await?;
    let next = first.next.ok_or("the first page of two has no next one")?;
    // The cursor goes through text, as it does on its way through a client.
    let next = Cursor::from(next.to_string());
    for id in ["b", "c"] {
        let deleted = trial.store.delete(&RunId::from(id)).await;
        ensure(matches!(deleted, Ok(true)), || format!("delete said {deleted:?}"))?;
    }
    trial.create("e", LONG).await?;
    let second = list(trial, &RunFilter::new(), Page::first(2).after(next)).await?;
    ensure(ids(&second) == ["d", "e"], || format!("the next page is {:?}", ids(&second)))
}

/// Four runs that differ in all that a filter looks at.
async fn different_runs(trial: &Trial) -> Verdict {
    for (id, agent, conversation, label, state) in [
        ("a", "one", None, None, RunState::Running),
        ("b", "one", Some("x"), Some("red"), RunState::Paused),
        ("c", "two", Some("x"), Some("blue"), RunState::Completed),
        ("d", "two", Some("y"), Some("red"), RunState::Failed),
    ] {
        let mut run = NewRun::new(id, agent);
        run.conversation = conversation.map(str::to_owned);
        run.labels.extend(label.map(|label| ("colour".to_owned(), label.to_owned())));
        run.labels.insert("same".to_owned(), "for all".to_owned());
        let lease = trial.store.create(run, row(id, 1), LONG).await.map_err(unexpected("create"))?;
        trial.append_as(&lease, 2, state).await?;
        trial.tick().await;
    }
    Ok(())
}

async fn each_filter_lets_through_what_it_says(trial: &Trial) -> Verdict {
    different_runs(trial).await?;
    let all = RunFilter::new;
    let created = trial.load("c").await?.summary.created_at;
    expect(trial, &all(), &["a", "b", "c", "d"]).await?;
    expect(trial, &all().agent("one"), &["a", "b"]).await?;
    expect(trial, &all().agent("On%"), &[]).await?;
    expect(trial, &all().conversation("x"), &["b", "c"]).await?;
    expect(trial, &all().conversation(""), &[]).await?;
    expect(trial, &all().state(RunState::Paused), &["b"]).await?;
    expect(trial, &all().state(RunState::Paused).state(RunState::Failed), &["b", "d"]).await?;
    expect(trial, &all().state(RunState::Cancelled), &[]).await?;
    expect(trial, &all().label("colour", "red"), &["b", "d"]).await?;
    expect(trial, &all().label("colour", "red").label("same", "for all"), &["b", "d"]).await?;
    expect(trial, &all().label("colour", "red").label("same", "other"), &[]).await?;
    expect(trial, &all().created_from(created), &["c", "d"]).await?;
    expect(trial, &all().created_before(created), &["a", "b"]).await?;
    expect(trial, &all().created_from(created).created_before(created), &[]).await?;
    expect(trial, &all().agent("two").conversation("x"), &["c"]).await?;
    expect(trial, &all().agent("one").conversation("y"), &[]).await
}

async fn filters_hold_on_every_page(trial: &Trial) -> Verdict {
    different_runs(trial).await?;
    let red = RunFilter::new().label("colour", "red");
    let first = list(trial, &red, Page::newest(1)).await?;
    ensure(ids(&first) == ["d"], || format!("the first page is {:?}", ids(&first)))?;
    let next = first.next.ok_or("the first page of one has no next one")?;
    let second = list(trial, &red, Page::newest(1).after(next)).await?;
    ensure(ids(&second) == ["b"], || format!("the second page is {:?}", ids(&second)))?;
    ensure(second.next.is_none(), || "there is a page behind the last run".to_owned())
}

async fn a_foreign_cursor_is_refused(trial: &Trial) -> Verdict {
    trial.create("a", LONG).await?;
    for text in ["no cursor of yours", "", "-", "99999999999999999999999999"] {
        let page = Page::first(1).after(Cursor::from(text));
        match trial.store.list(&RunFilter::new(), page).await {
            Err(StoreError::BadCursor) => {}
            Err(error) => return Err(format!("`{text}` failed with `{error}`")),
            Ok(_) => return Err(format!("`{text}` was taken for a cursor")),
        }
    }
    Ok(())
}
