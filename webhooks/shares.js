// The shares of mailboxes: they bound what is written to one. A place takes its share when the
// visitor types the address, so that the page can say at once that no message will come. Stored by
// names made with a key, of which neither visitor nor mailbox nor network can be told.

/**
 * How many places of one network get a message at a mailbox: a household has several places and one
 * mailbox. Places of other networks take none of them.
 */
const PER_MAILBOX = 3;
/** How long a place keeps its share at most, in milliseconds: longer than most lines are. */
export const KEPT_MS = 6 * 60 * 60_000;

const TABLE =
  "CREATE TABLE IF NOT EXISTS turn_shares (id TEXT PRIMARY KEY, contact_id TEXT, until INTEGER)";
const INDICES = [
  "CREATE INDEX IF NOT EXISTS turn_shares_contact ON turn_shares (contact_id)",
  "CREATE INDEX IF NOT EXISTS turn_shares_until ON turn_shares (until)",
];
const FORGET = "DELETE FROM turn_shares WHERE until <= ?";
const COUNT = "SELECT COUNT(*) AS count FROM turn_shares WHERE contact_id = ? AND id <> ?";
const TAKE = "INSERT OR REPLACE INTO turn_shares (id, contact_id, until) VALUES (?, ?, ?)";
const GIVE_BACK = "DELETE FROM turn_shares WHERE id = ?";
const SHORTEN = "UPDATE turn_shares SET until = MIN(until, ?) WHERE id = ?";

/** Makes the table of shares, if there is none. */
export function open(sql) {
  for (const statement of [TABLE, ...INDICES]) sql.exec(statement);
}

/**
 * Takes a share of a mailbox for a place, which gives back the one that it had; with an empty
 * `contact_id` it gives that back alone. A place that gets none keeps what it has.
 *
 * @param {SqlStorage} sql with the table
 * @param {number} now in milliseconds
 * @param {{ id: string, contact_id: string }} of see `visit/turn_notice.rs` of the core
 * @returns {boolean} whether the place has a share of this mailbox
 */
export function take(sql, now, { id, contact_id: mailbox }) {
  sql.exec(FORGET, now);
  if (!mailbox) {
    sql.exec(GIVE_BACK, id);
    return false;
  }
  const [{ count }] = sql.exec(COUNT, mailbox, id).toArray();
  if (count >= PER_MAILBOX) return false;
  sql.exec(TAKE, id, mailbox, now + KEPT_MS);
  return true;
}

/** The place has had its message: its share is free at `until`, in milliseconds. */
export function shorten(sql, id, until) {
  sql.exec(SHORTEN, until, id);
}

/** Forgets all shares. */
export function forget(sql) {
  sql.exec("DROP TABLE IF EXISTS turn_shares");
}
