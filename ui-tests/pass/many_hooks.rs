#![deny(warnings)]
//! A list has no limit that a program would meet.
use protolink::prelude::*;

macro_rules! many {
    ($($name:ident)*) => {
        $(
            #[before_model]
            fn $name(_request: &mut ModelRequest<'_>) {}
        )*

        pub(crate) fn main() {
            // A thousand names each.
            const ALL: protolink::ListFingerprint = protolink::hooks_fingerprint![
                $($name),*, $($name),*, $($name),*, $($name),*, $($name),*,
                $($name),*, $($name),*, $($name),*, $($name),*, $($name),*
            ];
            let _ = ALL;
            let _ = Agent::builder("a").hooks(hooks![
                $($name),*, $($name),*, $($name),*, $($name),*, $($name),*,
                $($name),*, $($name),*, $($name),*, $($name),*, $($name),*
            ]);
        }
    };
}

many! {
    h00 h01 h02 h03 h04 h05 h06 h07 h08 h09 h10 h11 h12 h13 h14 h15 h16 h17 h18 h19 h20 h21 h22 h23 h24 h25 h26 h27 h28
    h29 h30 h31 h32 h33 h34 h35 h36 h37 h38 h39 h40 h41 h42 h43 h44 h45 h46 h47 h48 h49 h50 h51 h52 h53 h54 h55 h56 h57
    h58 h59 h60 h61 h62 h63 h64 h65 h66 h67 h68 h69 h70 h71 h72 h73 h74 h75 h76 h77 h78 h79 h80 h81 h82 h83 h84 h85 h86
    h87 h88 h89 h90 h91 h92 h93 h94 h95 h96 h97 h98 h99
}
