//! The attributes of an item. A closure for each question would be compiled into a search of its own.

use syn::Attribute;

/// Whether an attribute is one that is looked for.
type Is = fn(&Attribute) -> bool;

/// The first that is one.
pub(crate) fn find(attributes: &[Attribute], is: Is) -> Option<&Attribute> {
    attributes.iter().find(|attribute| is(attribute))
}

/// Takes away all that are one.
pub(crate) fn remove(attributes: &mut Vec<Attribute>, is: Is) {
    attributes.retain(|attribute| !is(attribute));
}

/// All of a name: `#[cfg(..)]`, `#[doc = ".."]`.
pub(crate) fn named<'a>(attributes: &'a [Attribute], name: &str) -> Vec<&'a Attribute> {
    let mut named = Vec::new();
    for attribute in attributes {
        if attribute.path().is_ident(name) {
            named.push(attribute);
        }
    }
    named
}
