// When visitors come: the curves that the simulator knows, each with its words. Pure: the command
// and the cockpit offer the same.

export const PRESETS = {
  flash_sale: "Flash sale: most in the first minutes, for half an hour",
  ticket_drop: "Ticket drop: they gather for 30 minutes, most come with the start",
  registration_day: "Registration day: eight hours with a rush in the morning",
  news_spike: "News spike: the highest within two minutes, half every ten minutes",
  all_day: "All day: day and night",
};
