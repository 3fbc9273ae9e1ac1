// What a room and an event let their owner choose alike: values of the API, with a label for each.

export const QUEUEING_METHODS = {
  fifo: "First come, first served",
  random: "Lottery",
  passthrough: "Everybody passes, counted",
  reject: "Nobody new enters (sold out)",
};
export const TURNSTILE_MODES = {
  off: "Off",
  invisible: "Invisible",
  visible_non_interactive: "Visible, nothing to do",
  visible_managed: "Visible, asks when in doubt",
};
export const TURNSTILE_MODES_HELP =
  "What those who wait meet; nothing without Turnstile’s keys.";
export const TRANSPARENCY_LOGS = {
  off: "Nobody: there is none",
  owner: "You; each visitor inside gets a receipt",
  public: "Everybody",
};
export const TURNSTILE_ACTIONS = {
  log: "Is counted",
  infinite_queue: "Waits in a line that never moves",
};
