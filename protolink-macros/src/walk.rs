//! One walk through a type, whatever is asked of it.
//!
//! A visitor for each question would have all of `syn`'s functions compiled once more, for every user of the macros.

use syn::visit_mut::{self, VisitMut};
use syn::{
    Expr, Lifetime, ParenthesizedGenericArguments, PathSegment, TraitBound, Type, TypeFnPtr, TypeImplTrait, TypeInfer,
    TypeReference,
};

/// What a walk comes across.
pub(crate) enum Part<'t> {
    Lifetime(&'t mut Lifetime),
    Segment(&'t mut PathSegment),
    /// `_`
    Infer,
    Reference(&'t mut TypeReference),
    ImplTrait(&'t TypeImplTrait),
    Bound(&'t TraitBound),
    /// `(&u8) -> &u8` of `Fn(&u8) -> &u8`, whose elided lifetimes are its own.
    FnArguments,
}

/// Where the walk goes on.
#[derive(PartialEq, Eq)]
pub(crate) enum Step {
    /// In what the part is made of.
    Into,
    /// After the part.
    Past,
}

/// Walks through a type, and changes it on the way.
pub(crate) fn edit(ty: &mut Type, mut on: impl FnMut(Part<'_>) -> Step) {
    Walk { on: &mut on }.visit_type_mut(ty);
}

/// Walks through a type, and returns what became of it on the way.
pub(crate) fn change(ty: &Type, on: impl FnMut(Part<'_>) -> Step) -> Type {
    let mut ty = ty.clone();
    edit(&mut ty, on);
    ty
}

/// Walks through a type.
pub(crate) fn look(ty: &Type, on: impl FnMut(Part<'_>) -> Step) {
    change(ty, on);
}

struct Walk<'w> {
    on: &'w mut dyn FnMut(Part<'_>) -> Step,
}

impl VisitMut for Walk<'_> {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        // Nothing is in it but its name.
        let (Step::Into | Step::Past) = (self.on)(Part::Lifetime(lifetime));
    }

    fn visit_type_infer_mut(&mut self, _: &mut TypeInfer) {
        let (Step::Into | Step::Past) = (self.on)(Part::Infer);
    }

    fn visit_path_segment_mut(&mut self, segment: &mut PathSegment) {
        if (self.on)(Part::Segment(segment)) == Step::Into {
            visit_mut::visit_path_segment_mut(self, segment);
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if (self.on)(Part::Reference(reference)) == Step::Into {
            visit_mut::visit_type_reference_mut(self, reference);
        }
    }

    fn visit_type_impl_trait_mut(&mut self, found: &mut TypeImplTrait) {
        if (self.on)(Part::ImplTrait(found)) == Step::Into {
            visit_mut::visit_type_impl_trait_mut(self, found);
        }
    }

    fn visit_trait_bound_mut(&mut self, bound: &mut TraitBound) {
        if (self.on)(Part::Bound(bound)) == Step::Into {
            visit_mut::visit_trait_bound_mut(self, bound);
        }
    }

    // `fn(&u8) -> &u8` lends nothing: its lifetimes are those of a call.
    fn visit_type_fn_ptr_mut(&mut self, _: &mut TypeFnPtr) {}

    // The length of an array names no lifetime, and all of the language would be compiled for it.
    fn visit_expr_mut(&mut self, _: &mut Expr) {}

    fn visit_parenthesized_generic_arguments_mut(&mut self, arguments: &mut ParenthesizedGenericArguments) {
        if (self.on)(Part::FnArguments) == Step::Into {
            visit_mut::visit_parenthesized_generic_arguments_mut(self, arguments);
        }
    }
}
