// When visitors come: the curves that the simulator knows, each with its words. Pure: the command
// and the cockpit offer the same.

export const PRESETS = {
  flash_sale: "Flash sale: a rush of half an hour",
  ticket_drop: "Ticket drop: gathering, then a rush",
  registration_day: "Registration day: eight hours",
  news_spike: "News spike: a peak in two minutes",
  all_day: "All day: day and night",
};
