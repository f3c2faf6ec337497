//! SHA-256 (FIPS 180-4). A hundred lines, where a crate would cost every user of the macros a second of build time.
//!
//! It is written for a build without optimisation, which is how most users build it: in the rounds no index is checked,
//! since all are literals, and no word moves from one name to the next. A loop over the rounds, as the standard has it,
//! takes four times as many instructions.

#[rustfmt::skip]
const ROUND_CONSTANTS: [[u32; 16]; 4] = [
    [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5,
        0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3,
        0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    ],
    [
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc,
        0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
        0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    ],
    [
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13,
        0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3,
        0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    ],
    [
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5,
        0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208,
        0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ],
];

const START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// The digest of `bytes`.
pub(crate) fn digest(bytes: &[u8]) -> [u8; 32] {
    let mut state = START;
    let mut blocks = bytes.chunks_exact(64);
    for block in &mut blocks {
        compress(&mut state, block);
    }
    // What is left, one bit, zeros up to the last eight bytes of a block, and the length in bits.
    let rest = blocks.remainder();
    let mut last = [0; 128];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    let end = if rest.len() < 56 { 64 } else { 128 };
    let bits = (bytes.len() as u64).wrapping_mul(8);
    last[end - 8..end].copy_from_slice(&bits.to_be_bytes());
    for block in last[..end].chunks_exact(64) {
        compress(&mut state, block);
    }
    let mut digest = [0; 32];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

/// A word twice, of which a shift to the right leaves the word rotated in its lower half.
macro_rules! twice {
    ($word:expr) => {
        (($word as u64) << 32) | $word as u64
    };
}

/// One round. What it makes of `d` and `h` are the next one's `e` and `a`, so the words keep their places and the
/// caller goes around them.
macro_rules! round {
    ($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident, $constant:expr, $word:expr) => {
        let (twice_a, twice_e) = (twice!($a), twice!($e));
        let s1 = ((twice_e >> 6) ^ (twice_e >> 11) ^ (twice_e >> 25)) as u32;
        // For each bit: the word `f` or `g`, as `e` says.
        let choice = $g ^ ($e & ($f ^ $g));
        let first = $h.wrapping_add(s1).wrapping_add(choice).wrapping_add($constant).wrapping_add($word);
        let s0 = ((twice_a >> 2) ^ (twice_a >> 13) ^ (twice_a >> 22)) as u32;
        // For each bit: `b` where `a` agrees with it, else `c`.
        let majority = $b ^ (($a ^ $b) & ($b ^ $c));
        $d = $d.wrapping_add(first);
        $h = first.wrapping_add(s0).wrapping_add(majority);
    };
}

/// The word that takes the place of the one sixteen rounds ago.
macro_rules! next_word {
    ($words:ident, $at:literal, $after:literal, $ninth:literal, $fourteenth:literal) => {
        let (after, fourteenth) = ($words[$after], $words[$fourteenth]);
        let (twice_after, twice_fourteenth) = (twice!(after), twice!(fourteenth));
        let s0 = ((twice_after >> 7) ^ (twice_after >> 18)) as u32 ^ (after >> 3);
        let s1 = ((twice_fourteenth >> 17) ^ (twice_fourteenth >> 19)) as u32 ^ (fourteenth >> 10);
        $words[$at] = $words[$at].wrapping_add(s0).wrapping_add($words[$ninth]).wrapping_add(s1);
    };
}

/// One block of 64 bytes.
#[allow(clippy::many_single_char_names, reason = "the standard's own names")]
#[allow(clippy::cast_possible_truncation, clippy::cast_lossless, reason = "half of a word that is there twice")]
fn compress(state: &mut [u32; 8], block: &[u8]) {
    let mut words = [0_u32; 16];
    let mut at = 0;
    let (bytes, _) = block.as_chunks();
    while at < 16 {
        words[at] = u32::from_be_bytes(bytes[at]);
        at += 1;
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    let mut group = 0;
    while group < 4 {
        if group > 0 {
            next_word!(words, 0, 1, 9, 14);
            next_word!(words, 1, 2, 10, 15);
            next_word!(words, 2, 3, 11, 0);
            next_word!(words, 3, 4, 12, 1);
            next_word!(words, 4, 5, 13, 2);
            next_word!(words, 5, 6, 14, 3);
            next_word!(words, 6, 7, 15, 4);
            next_word!(words, 7, 8, 0, 5);
            next_word!(words, 8, 9, 1, 6);
            next_word!(words, 9, 10, 2, 7);
            next_word!(words, 10, 11, 3, 8);
            next_word!(words, 11, 12, 4, 9);
            next_word!(words, 12, 13, 5, 10);
            next_word!(words, 13, 14, 6, 11);
            next_word!(words, 14, 15, 7, 12);
            next_word!(words, 15, 0, 8, 13);
        }
        let constants = &ROUND_CONSTANTS[group];
        round!(a b c d e f g h, constants[0], words[0]);
        round!(h a b c d e f g, constants[1], words[1]);
        round!(g h a b c d e f, constants[2], words[2]);
        round!(f g h a b c d e, constants[3], words[3]);
        round!(e f g h a b c d, constants[4], words[4]);
        round!(d e f g h a b c, constants[5], words[5]);
        round!(c d e f g h a b, constants[6], words[6]);
        round!(b c d e f g h a, constants[7], words[7]);
        round!(a b c d e f g h, constants[8], words[8]);
        round!(h a b c d e f g, constants[9], words[9]);
        round!(g h a b c d e f, constants[10], words[10]);
        round!(f g h a b c d e, constants[11], words[11]);
        round!(e f g h a b c d, constants[12], words[12]);
        round!(d e f g h a b c, constants[13], words[13]);
        round!(c d e f g h a b, constants[14], words[14]);
        round!(b c d e f g h a, constants[15], words[15]);
        group += 1;
    }
    state[0] = state[0].wrapping_add(a);
    state[1] = state[1].wrapping_add(b);
    state[2] = state[2].wrapping_add(c);
    state[3] = state[3].wrapping_add(d);
    state[4] = state[4].wrapping_add(e);
    state[5] = state[5].wrapping_add(f);
    state[6] = state[6].wrapping_add(g);
    state[7] = state[7].wrapping_add(h);
}

#[cfg(test)]
mod tests {
    use super::digest;

    fn hex(input: &[u8]) -> String {
        digest(input).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
    }

    #[test]
    fn the_standards_own_examples() {
        assert_eq!(hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(
            hex(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
        assert_eq!(hex(&vec![b'a'; 1_000_000]), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}
