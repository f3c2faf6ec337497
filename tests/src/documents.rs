//! The examples of the documents are tests.

#[doc = include_str!("../../docs/testing-hooks.md")]
struct TestingHooks;

#[doc = include_str!("../../docs/upgrading-hooks.md")]
struct UpgradingHooks;

#[doc = include_str!("../../docs/migrating.md")]
struct Migrating;

#[doc = include_str!("../../docs/durability.md")]
struct Durability;

#[doc = include_str!("../../docs/telemetry.md")]
struct Telemetry;

#[doc = include_str!("../../docs/macros.md")]
struct Macros;
