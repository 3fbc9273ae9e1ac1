//! A visit's question to a counter: waits until it may be sent, repeats it when the room's machine
//! wants that, and takes the first answer.

use std::future::pending;

use futures_util::future::{FutureExt, LocalBoxFuture, select_all};
use room_core::base::id::RoomId;
use room_core::machines::isolate::{Asking, Question};
use room_core::machines::wire::{CounterCall, CounterReply};

use crate::memory::RoomState;
use crate::platform::Env;
use crate::{calls, memory, platform};

/// The pending answers to one question; `None` stands for a timeout.
type Answers = Vec<LocalBoxFuture<'static, Option<CounterReply>>>;

/// Gets a slot for a visit, or the news that there is none. `ask` decides the visit or says what to
/// do first, by how often it has waited; `settle` decides it by the reply. `None` if the room is
/// gone.
pub async fn with_slot<Answer>(
    env: &Env,
    room: RoomId,
    ask: impl Fn(u32) -> Option<Result<Answer, Asking>>,
    settle: impl FnOnce(Option<CounterReply>) -> Option<Result<Answer, Asking>>,
) -> Option<Answer> {
    let mut looks = 0;
    let question = loop {
        match ask(looks)? {
            Ok(answer) => return Some(answer),
            Err(Asking::Send(question)) => break question,
            Err(Asking::Wait(for_ms)) => {
                platform::sleep(for_ms).await;
                looks += 1;
            }
            Err(Asking::Settled(_)) => return None,
        }
    };
    settle(reply_to(env, room, question).await)?.ok()
}

/// Asks a counter. `None` if no answer comes in time, after all repetitions.
async fn reply_to(env: &Env, room: RoomId, question: Question) -> Option<CounterReply> {
    platform::within(calls::LIMIT_MS, first_reply(env, room, question)).await
}

async fn first_reply(env: &Env, room: RoomId, mut question: Question) -> Option<CounterReply> {
    let mut answers = Answers::new();
    let mut call = question.call.clone();
    let reply = loop {
        answers.push(answer(env.clone(), room, call).boxed_local());
        let reply = async {
            match next_reply(&mut answers).await {
                // Whoever hears nothing asks again when it is time, and no sooner.
                None => pending().await,
                reply => reply,
            }
        };
        if let Some(reply) = platform::within(question.patience_ms, reply).await {
            break reply;
        }
        let again = |state: &mut RoomState| state.isolate.ask_again(platform::now(), &mut question);
        match memory::with_room(room, again).flatten() {
            Some(once_more) => call = once_more,
            None => break next_reply(&mut answers).await?,
        }
    };
    memory::with_room(room, |state| state.isolate.on_answered(platform::now(), &question));
    if question.was_repeated() {
        platform::detach(async move {
            while let Some(reply) = next_reply(&mut answers).await {
                memory::with_room(room, |state| {
                    state.isolate.keep_rest(platform::now(), question.call.counter, reply);
                });
            }
        });
    }
    Some(reply)
}

async fn answer(env: Env, room: RoomId, call: CounterCall) -> Option<CounterReply> {
    calls::counter(&env, room, &call).await
}

/// Waits for the next reply; `None` once all have timed out.
async fn next_reply(answers: &mut Answers) -> Option<CounterReply> {
    while !answers.is_empty() {
        let (answer, which, _) = select_all(answers.iter_mut()).await;
        drop(answers.swap_remove(which));
        if answer.is_some() {
            return answer;
        }
    }
    None
}
