//! Prints where the operators and match arms of source files begin and end: one JSON object a line.
//!
//! `places FILE..`. Lines count from 1 and columns from 0, in characters.

use std::error::Error;

use proc_macro2::{LineColumn, Span};
use serde_json::{Value, json};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

struct Places<'a> {
    file: &'a str,
}

fn position(at: LineColumn) -> Value {
    json!([at.line, at.column])
}

fn range(span: Span) -> Value {
    json!([position(span.start()), position(span.end())])
}

/// Whether an expression binds names, as the conditions of `if` and the guards of arms may: it cannot be moved.
fn binds(expression: &syn::Expr) -> bool {
    match expression {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => binds(&binary.left) || binds(&binary.right),
        _ => false,
    }
}

impl Visit<'_> for Places<'_> {
    fn visit_expr_binary(&mut self, binary: &syn::ExprBinary) {
        if !binds(&binary.left) && !binds(&binary.right) {
            println!(
                "{}",
                json!({
                    "file": self.file,
                    "kind": "BinaryOperator",
                    "at": position(binary.op.span().start()),
                    "left": range(binary.left.span()),
                    "right": range(binary.right.span()),
                })
            );
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &syn::ExprUnary) {
        println!(
            "{}",
            json!({
                "file": self.file,
                "kind": "UnaryOperator",
                "at": position(unary.op.span().start()),
                "whole": range(unary.span()),
                "inner": range(unary.expr.span()),
            })
        );
        visit::visit_expr_unary(self, unary);
    }

    fn visit_arm(&mut self, arm: &syn::Arm) {
        let guard = arm.guard.as_ref().map(|(_, guard)| guard);
        if guard.is_none_or(|guard| !binds(guard)) {
            println!(
                "{}",
                json!({
                    "file": self.file,
                    "kind": "MatchArm",
                    "at": position(arm.span().start()),
                    "pattern": range(arm.pat.span()),
                    "guard": guard.map(|guard| range(guard.span())),
                })
            );
        }
        visit::visit_arm(self, arm);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for file in std::env::args().skip(1) {
        let source = syn::parse_file(&std::fs::read_to_string(&file)?)?;
        Places { file: &file }.visit_file(&source);
    }
    Ok(())
}
