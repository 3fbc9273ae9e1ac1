//! Tests of the secret tokens and of the limit on wrong ones.

use super::{Credentials, Denials, Secrets, user, verified};
use crate::base::prefix_budget::ClientPrefix;
use crate::base::time::Timestamp;
use crate::management::token::{Grant, Role};

const HOST: &str = "admin.example";

fn secrets() -> Secrets {
    Secrets { write: Some("all".to_owned()), read: Some("look".to_owned()) }
}

#[test]
fn the_public_token_opens_nothing_but_local_hosts() {
    let authorization = "Bearer local-development-only";
    let credentials = Credentials { authorization, ..Credentials::default() };
    let public = || Some("local-development-only".to_owned());
    let check = |write: bool, host: &str, want: Option<Role>| {
        let (write, read) = if write { (public(), None) } else { (None, public()) };
        let grant = Secrets { write, read }.grant(credentials, host);
        assert_eq!(grant.map(|grant| grant.role), want, "{host}");
    };
    check(true, "localhost", Some(Role::Admin));
    check(false, "127.0.0.1", Some(Role::Look));
    check(true, HOST, None);
    check(false, HOST, None);
}

#[test]
fn a_secret_opens_what_it_is_for() {
    let check = |authorization: &str, email: &str, key: &str, want: Option<Role>| {
        let credentials = Credentials { authorization, email, key, ..Credentials::default() };
        let grant = secrets().grant(credentials, HOST);
        assert_eq!(grant, want.map(Grant::of_secret), "{credentials:?}");
        assert_eq!(Secrets::default().grant(credentials, HOST), None);
    };
    check("Bearer all", "", "", Some(Role::Admin));
    check("Bearer look", "", "", Some(Role::Look));
    check("bearer all", "", "", Some(Role::Admin));
    check("BEARER look", "", "", Some(Role::Look));
    check("Bearerall", "", "", None);
    check("Bearer no", "", "", None);
    check("Bearer ", "", "", None);
    check("all", "", "", None);
    check("Basic all", "", "", None);
    check("", "me@shop.example", "all", Some(Role::Admin));
    check("", "me@shop.example", "look", Some(Role::Look));
    check("", "me@shop.example", "", None);
    check("", "", "all", None);
    check("Bearer no", "me@shop.example", "all", None);
}

#[test]
fn a_secret_is_told_what_it_may() {
    let check = |role: Role, name: &str, may_write: bool| {
        let reply = verified(&Grant::of_secret(role), None);
        let body: serde_json::Value = serde_json::from_str(&reply.body).expect("JSON");
        let result = &body["result"];
        assert_eq!((&result["status"], &result["name"]), (&"active".into(), &name.into()));
        assert_eq!(result["role"], role.name());
        assert_eq!(
            (&result["may_write"], result["id"].as_str().map(str::len)),
            (&may_write.into(), Some(32))
        );
    };
    check(Role::Admin, "API_TOKEN", true);
    check(Role::Look, "API_TOKEN_READ", false);
}

#[test]
fn whose_a_token_is_is_told_by_its_id() {
    let email = |grant: &Grant, email: &str| {
        let reply = user(grant, &Credentials { email, ..Credentials::default() }.actor());
        let body: serde_json::Value = serde_json::from_str(&reply.body).expect("JSON");
        let of = |name: &str| body["result"][name].as_str().unwrap_or_default().to_owned();
        (of("id").len(), of("id").ends_with('1'), of("email"))
    };
    let none = "token@waiting-room.invalid".to_owned();
    assert_eq!(email(&Grant::owner(), ""), (32, true, none.clone()));
    assert_eq!(email(&Grant::of_secret(Role::Look), ""), (32, false, none));
    assert_eq!(email(&Grant::owner(), "a@shop.example").2, "a@shop.example");
}

#[test]
fn the_actor_is_the_address_without_what_breaks_a_log() {
    let check = |authorization: &str, email: &str, want: &str| {
        let credentials = Credentials { authorization, email, ..Credentials::default() };
        assert_eq!(credentials.actor(), want);
    };
    check("", "me@shop.example", "me@shop.example");
    check("", "me\n@shop", "me@shop");
    check("Bearer all", "me@shop.example", "owner");
    check("", "", "owner");
}

#[test]
fn a_person_counts_without_a_token_and_while_signed_in() {
    let person = r#"{"name":"a@shop.example","role":"look","expires_on":"1970-01-01T00:10:00Z"}"#;
    let check = |authorization: &str, person: &str, seconds: u64, want: bool| {
        let credentials = Credentials { authorization, person, ..Credentials::default() };
        let found = credentials.person(Timestamp::from_seconds(seconds));
        assert_eq!(found.is_some(), want, "{authorization} {person} {seconds}");
    };
    check("", person, 599, true);
    check("", person, 600, false);
    check("Bearer no", person, 1, false);
    check("", "", 1, false);
    check("", r#"{"name":"a@shop.example"}"#, 1, false);
    let why = |why_nobody: &str| {
        let credentials = Credentials { why_nobody, ..Credentials::default() };
        let now = Timestamp::from_seconds(1);
        let refusal = Denials::default().check(now, ClientPrefix::of(None), credentials, None);
        refusal.err().map(|refusal| (refusal.status, refusal.errors[0].message.clone()))
    };
    let (status, told) = why("It has ended.").unwrap();
    assert!(status == 403 && told.ends_with("nothing here. It has ended."), "{told}");
    assert!(why("").unwrap().1.starts_with("Not allowed"));
}

#[test]
fn a_network_that_guesses_is_told_to_wait_and_locks_nobody_out() {
    let mut denials = Denials::default();
    let network = |address: &str| ClientPrefix::of(address.parse().ok());
    let (guesser, other) = (network("203.0.113.9"), network("198.51.100.9"));
    let mut check = |seconds: u64, client, authorization: &str, want: Option<(u16, u64)>| {
        let credentials = Credentials { authorization, ..Credentials::default() };
        let grant = secrets().grant(credentials, HOST);
        let now = Timestamp::from_seconds(seconds);
        let refusal = denials.check(now, client, credentials, grant).err();
        let seen = refusal.map(|one| (one.status, one.retry_after_s.unwrap_or_default()));
        assert_eq!(seen, want, "{authorization} after {seconds} s");
    };
    for _ in 0..100 {
        check(100, guesser, "", Some((403, 0)));
        check(100, guesser, "Basic no", Some((403, 0)));
    }
    for _ in 0..20 {
        check(100, guesser, "Bearer no", Some((403, 0)));
    }
    check(100, guesser, "Bearer no", Some((429, 60)));
    check(159, guesser, "Bearer no", Some((429, 1)));
    check(159, guesser, "", Some((403, 0)));
    check(159, guesser, "Bearer all", None);
    check(159, guesser, "Bearer look", None);
    check(159, other, "Bearer no", Some((403, 0)));
    check(160, guesser, "Bearer no", Some((403, 0)));
}

#[test]
fn each_wrong_token_of_a_network_is_answered_later_and_no_right_one() {
    let mut denials = Denials::default();
    let network = |address: &str| ClientPrefix::of(address.parse().ok());
    let (guesser, other) = (network("203.0.113.9"), network("198.51.100.9"));
    let mut held_back = |seconds: u64, client, authorization: &str| {
        let credentials = Credentials { authorization, ..Credentials::default() };
        let grant = secrets().grant(credentials, HOST);
        let now = Timestamp::from_seconds(seconds);
        let refusal = denials.check(now, client, credentials, grant).err();
        refusal.map(|refusal| refusal.held_back_ms)
    };
    for count in 1..=100_u64 {
        assert_eq!(held_back(100, guesser, "Bearer no"), Some(50 * count.min(20)), "{count}");
        assert_eq!(held_back(100, guesser, "Bearer all"), None, "{count}");
        assert_eq!(held_back(100, guesser, "Bearer look"), None, "{count}");
        assert_eq!(held_back(100, guesser, ""), Some(0), "{count}");
    }
    assert_eq!(held_back(100, other, "Bearer no"), Some(50));
    assert_eq!(held_back(160, guesser, "Bearer no"), Some(50));
}
