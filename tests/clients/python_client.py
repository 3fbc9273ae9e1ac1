"""The official Python client, unchanged but for the base URL and the token.

Started by python.test.mjs with the address of a running Worker as its argument; ends with an
exception when the client gets back anything but what it should. It looks at nothing else.
"""

import sys
import time

import cloudflare
from cloudflare import Cloudflare, InternalServerError

ZONE = "0123456789abcdef0123456789abcdef"
TOKEN = "token-of-tests"
# More than two pages of 25.
ROOMS = 60
LIMITS = {"total_active_users": 20, "new_users_per_minute": 20}
TIMES = {
    "event_start_time": "2030-12-01T18:00:00Z",
    "event_end_time": "2030-12-01T20:00:00Z",
}


def main(base_url: str) -> None:
    client = Cloudflare(api_token=TOKEN, base_url=base_url, max_retries=0)
    room = rooms(client)
    events(client, room)
    rules(client, room)
    settings_and_preview(client)
    lists(client)
    refusals(client, base_url)


def in_force(ask):
    """Asks until the room's object has heard of the change, within some seconds."""
    for _ in range(100):
        try:
            status = ask()
            if status.status == "queueing":
                return status
        except InternalServerError:
            pass  # It has not heard of the room yet.
        time.sleep(0.05)
    return ask()


def rooms(client: Cloudflare) -> str:
    api = client.waiting_rooms
    made = api.create(zone_id=ZONE, name="sale", host="sale.example", **LIMITS)
    same("made", (made.name, made.path, made.queueing_method), ("sale", "/", "fifo"))
    same("got", api.get(made.id, zone_id=ZONE), made)
    fields = {"zone_id": ZONE, "name": "sale", "host": "sale.example", **LIMITS}
    updated = api.update(made.id, session_duration=9, **fields)
    same("updated", (updated.id, updated.session_duration), (made.id, 9))
    edited = api.edit(made.id, **{**fields, "total_active_users": 30, "queue_all": True})
    same("edited", (edited.total_active_users, edited.session_duration), (30, 9))
    status = in_force(lambda: api.statuses.get(made.id, zone_id=ZONE))
    same("status", (status.status, status.estimated_queued_users), ("queueing", 0))
    return made.id


def events(client: Cloudflare, room: str) -> None:
    api = client.waiting_rooms.events
    names = {"zone_id": ZONE, "waiting_room_id": room}
    made = api.create(room, zone_id=ZONE, name="opening", **TIMES)
    same("event", api.get(made.id, **names), made)
    same("events", [event.name for event in api.list(room, zone_id=ZONE)], ["opening"])
    limits = {"total_active_users": 50, "new_users_per_minute": 40}
    api.update(made.id, name="opening", **names, **TIMES, **limits)
    edited = api.edit(made.id, name="first-day", **names, **TIMES)
    same("edited event", (edited.name, edited.total_active_users), ("first-day", 50))
    details = api.details.get(made.id, **names)
    same("details", (details.new_users_per_minute, details.session_duration), (40, 9))
    same("deleted event", api.delete(made.id, **names).id, made.id)
    same("no events", list(api.list(room, zone_id=ZONE)), [])


def rules(client: Cloudflare, room: str) -> None:
    api = client.waiting_rooms.rules
    staff = {"action": "bypass_waiting_room", "expression": "ip.src in {192.0.2.1}"}
    link = {
        "action": "bypass_waiting_room",
        "expression": 'ends_with(http.request.uri.path, "/userverified")',
    }
    [made] = api.create(room, zone_id=ZONE, rules=staff)
    same("rule", (made.expression, made.enabled), (staff["expression"], True))
    replaced = list(api.update(room, zone_id=ZONE, rules=[link, staff]))
    same("rules", [rule.expression for rule in replaced], [link["expression"], staff["expression"]])
    same("rules read", list(api.get(room, zone_id=ZONE)), replaced)
    names = {"zone_id": ZONE, "waiting_room_id": room}
    last = replaced[1].id
    edited = list(api.edit(last, position={"index": 1}, enabled=False, **names, **staff))
    same("rules edited", [(rule.id, rule.enabled) for rule in edited][0], (last, False))
    left = list(api.delete(last, **names))
    same("rules left", [rule.expression for rule in left], [link["expression"]])


def settings_and_preview(client: Cloudflare) -> None:
    api = client.waiting_rooms
    for wanted in (True, False):
        api.settings.edit(zone_id=ZONE, search_engine_crawler_bypass=wanted)
        same("setting", api.settings.get(zone_id=ZONE).search_engine_crawler_bypass, wanted)
    updated = api.settings.update(zone_id=ZONE, search_engine_crawler_bypass=True)
    same("settings", updated.search_engine_crawler_bypass, True)
    url = api.page.preview(zone_id=ZONE, custom_html="<p>hi").preview_url
    same("preview", url.startswith("http"), True)


def lists(client: Cloudflare) -> None:
    api = client.waiting_rooms
    names = [f"room-{number}" for number in range(ROOMS)]
    made = [api.create(zone_id=ZONE, name=name, host=f"{name}.example", **LIMITS) for name in names]
    listed = {room.name for room in api.list(zone_id=ZONE)}
    same("list", listed, {"shop", "sale", *names})
    page = api.list(zone_id=ZONE, per_page=50, page=2)
    same("second page", len(page.result), ROOMS + 2 - 50)
    for room in made:
        same("deleted", api.delete(room.id, zone_id=ZONE).id, room.id)
    same("list afterwards", {room.name for room in api.list(zone_id=ZONE)}, {"shop", "sale"})


def refusals(client: Cloudflare, base_url: str) -> None:
    api = client.waiting_rooms
    wrong = {**LIMITS, "total_active_users": 0}
    error = fails(
        cloudflare.BadRequestError,
        lambda: api.create(zone_id=ZONE, name="wrong", host="wrong.example", **wrong),
    )
    same("pointer", error.errors[0].source.pointer, "/total_active_users")
    fails(cloudflare.NotFoundError, lambda: api.get("0" * 32, zone_id=ZONE))
    stranger = Cloudflare(api_token="guessed", base_url=base_url, max_retries=0).waiting_rooms
    fails(cloudflare.PermissionDeniedError, lambda: stranger.get("0" * 32, zone_id=ZONE))


def fails(kind, act):
    try:
        act()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def same(what: str, seen, wanted) -> None:
    if seen != wanted:
        raise AssertionError(f"{what}: {seen!r}, not {wanted!r}")
    print(f"{what}: as wanted")


main(sys.argv[1])
