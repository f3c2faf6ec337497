//! Runs that went wrong elsewhere when they were paused, killed and resumed: cases R37 to R43, R63, R69 and R70.
//!
//! A process that is killed is a future that is dropped where it waits: nothing of it runs any more.

mod killed;
mod paused;
mod payer;
