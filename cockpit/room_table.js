// The fields of a room for forms: made of the core's table of fields by
// UPDATE=1 cargo test -p room-core --test openapi

export const ROOM_TABLE = [
  {
    name: "name", group: "Coverage", type: "text",
    help: "Unique whatever the letter case.",
  },
  {
    name: "description", group: "Coverage", type: "text",
    help: "A note of the owner.",
  },
  {
    name: "host", group: "Coverage", type: "text",
    help: "Lower case when read back.",
  },
  {
    name: "path", group: "Coverage", type: "text",
    help: "Covers itself and everything below.",
  },
  {
    name: "additional_routes", group: "Coverage", type: "text",
    help: "More places of the room; needs a cookie_suffix.",
  },
  {
    name: "case_sensitive_path", group: "Coverage", type: "checkbox",
    help: "Cover the paths in this letter case alone; many servers ignore it.",
  },
  {
    name: "cookie_suffix", group: "Sessions", type: "text",
    help: "What the cookie's name ends with.",
  },
  {
    name: "cookie_attributes", group: "Sessions", type: "text",
    help: "How browsers keep the cookie.",
  },
  {
    name: "total_active_users", group: "NoForm", type: "number",
    help: "1 to 2,147,483,647. Visitors inside at the same time, never more.",
  },
  {
    name: "new_users_per_minute", group: "NoForm", type: "number",
    help: "1 to 2,147,483,647. Visitors who enter in any 60 s, at most those inside.",
  },
  {
    name: "session_duration", group: "Order", type: "number",
    help: "1 to 30. Minutes that a place stays taken after the last request.",
  },
  {
    name: "disable_session_renewal", group: "Order", type: "checkbox",
    help: "The session runs from the admission.",
  },
  {
    name: "queue_all", group: "NoForm", type: "checkbox",
    help: "Everybody new waits, whatever is free.",
  },
  {
    name: "queueing_method", group: "Order", type: "select",
    values: [
      "fifo", "random", "passthrough", "reject",
    ],
    help: "First come first served; by lot; everybody, counted; nobody new.",
  },
  {
    name: "maintenance", group: "NoForm", type: "select",
    values: [
      "off", "drain", "hold",
    ],
    help: "drain: nobody new, sessions end; hold: visitors inside wait too.",
  },
  {
    name: "refresh_interval_seconds", group: "Waiting", type: "number",
    help: "5 to 300. How often a waiting visitor checks in.",
  },
  {
    name: "near_head_refresh_interval_seconds", group: "Waiting", type: "number",
    help: "3 to 60. The same when the turn is near; at most the interval above.",
  },
  {
    name: "when_silent", group: "Failures", type: "select",
    values: [
      "hold", "keep_flowing",
    ],
    help: "What happens to newcomers while no object answers.",
  },
  {
    name: "keep_flowing_per_minute", group: "Failures", type: "number",
    help: "0 to 100,000. The bound of keep_flowing, per isolate; then at least 1.",
  },
  {
    name: "unconfirmed_seconds", group: "Order", type: "number",
    help: "0 to 1,800. How long a newcomer counts who has not come back; 0: for the session.",
  },
  {
    name: "turn_kept_minutes", group: "Order", type: "number",
    help: "0 to 5. How long a place stays free for a visitor whose turn it is and who is away.",
  },
  {
    name: "confirm_turn_minutes", group: "Order", type: "number",
    help:
      "0 to 5. How long a place is kept for a visitor whose turn it is and who enters" + " " +
      "with a click; 0: visitors enter by themselves.",
  },
  {
    name: "event_stream_enabled", group: "Waiting", type: "checkbox",
    help: "Tell visitors near the head by text/event-stream when their turn comes.",
  },
  {
    name: "transparency_log", group: "Sessions", type: "select",
    values: [
      "off", "owner", "public",
    ],
    help: "Log each admission, for the owner alone or for everybody.",
  },
  {
    name: "suspended", group: "NoForm", type: "checkbox",
    help: "The room does nothing at all.",
  },
  {
    name: "queueing_status_code", group: "Waiting", type: "select", isNumber: true,
    values: [
      "200", "202", "429",
    ],
    help: "HTTP status of the queue page.",
  },
  {
    name: "json_response_enabled", group: "Waiting", type: "checkbox",
    help: "JSON for whoever accepts nothing else.",
  },
  {
    name: "custom_page_html", group: "Page", type: "text",
    help: "The page, a Mustache template.",
  },
  {
    name: "default_template_language", group: "Page", type: "select",
    values: [
      "en-US", "ar-EG", "bg-BG", "cs-CZ", "da-DK", "de-DE", "el-GR", "es-ES",
      "fa-IR", "fi-FI", "fr-FR", "he-IL", "hi-IN", "hr-HR", "hu-HU", "id-ID",
      "it-IT", "ja-JP", "ko-KR", "lt-LT", "lv-LV", "ms-MY", "nb-NO", "nl-NL",
      "pl-PL", "pt-BR", "ro-RO", "ru-RU", "sk-SK", "sl-SI", "sr-BA", "sv-SE",
      "th-TH", "tl-PH", "tr-TR", "uk-UA", "vi-VN", "zh-CN", "zh-TW",
    ],
    help: "The page's language for visitors who ask for none of these.",
  },
  {
    name: "strip_cookie", group: "Sessions", type: "checkbox",
    help: "Take our cookie out of what the origin sees.",
  },
  {
    name: "enabled_origin_commands", group: "Sessions", type: "text",
    help:
      "What the origin may order in the answer's header Cf-Waiting-Room-Command; revoke" + " " +
      "ends the visitor's session.",
  },
  {
    name: "session_endpoint", group: "Sessions", type: "checkbox",
    help: "Tell of the session, and let visitors leave.",
  },
  {
    name: "show_position", group: "Waiting", type: "checkbox",
    help: "Tell waiting visitors how many stand before.",
  },
  {
    name: "turnstile_mode", group: "Failures", type: "select",
    values: [
      "off", "invisible", "visible_non_interactive", "visible_managed",
    ],
    help: "Which widget those who wait meet; off where Turnstile's keys are missing.",
  },
  {
    name: "turnstile_action", group: "Failures", type: "select",
    values: [
      "log", "infinite_queue",
    ],
    help: "What becomes of those who do not pass: counted, or in a line that never moves.",
  },
  {
    name: "turnstile_when_silent", group: "Failures", type: "select",
    values: [
      "accept", "refuse",
    ],
    help: "What a token is worth while siteverify does not say so.",
  },
  {
    name: "show_infinite_queue", group: "Failures", type: "checkbox",
    help: "Pages tell those in the infinite queue, by the variable infiniteQueue.",
  },
  {
    name: "ticket_sharing", group: "Failures", type: "select",
    values: [
      "allow", "report", "challenge", "new_visitor",
    ],
    help: "What becomes of the ticket of a session that others than its visitor use.",
  },
  {
    name: "new_places_per_network", group: "Order", type: "number",
    help: "0 to 100,000. New places for one network in a minute, in each isolate; 0: any number.",
  },
  {
    name: "turn_notice", group: "Waiting", type: "select",
    values: [
      "off", "email", "phone", "email_or_phone",
    ],
    help: "What the queue page asks for to tell a visitor before the turn by your service.",
  },
  {
    name: "invitation_groups", group: "Order", type: "text",
    help: "Groups that a signed invitation can name.",
  },
  {
    name: "invitation_only", group: "Order", type: "checkbox",
    help: "Nobody enters or waits without an invitation; needs a group.",
  },
  {
    name: "page_name", group: "Page", type: "text",
    help: "The name on the built-in page; empty: the host.",
  },
  {
    name: "page_text", group: "Page", type: "text",
    help: "A text for everybody who waits; in others: [de] ...",
  },
  {
    name: "page_message", group: "NoForm", type: "text",
    help: "News for everybody who waits; likewise.",
  },
  {
    name: "page_color", group: "Page", type: "text",
    help: "Its colour, like #0f766e.",
  },
  {
    name: "page_help_url", group: "Page", type: "text",
    help: "Where visitors find help: https://...",
  },
  {
    name: "page_logo", group: "Page", type: "text",
    help: "Its picture, up to 4 KiB: data:image/...;base64,...",
  },
];
