//! Twelve small programs, as applications write them: each is a use that the hooks must be good for.

mod audit_log;
mod citation_check;
mod context_window;
mod cost_guard;
mod json_answer;
mod locale;
mod per_user_tools;
mod personal_data;
mod phases;
mod redaction;
mod retrieval;
mod two_tools;
