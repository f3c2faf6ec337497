//! SHA-256 (FIPS 180-4). Sixty lines, where a crate would cost every user of the macros a second of build time.

const ROUND_CONSTANTS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
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

/// `u32::rotate_right`, without its two calls.
macro_rules! rotate {
    ($word:ident, $by:literal) => {
        ($word >> $by) | ($word << (32 - $by))
    };
}

/// One block of 64 bytes. It is written for a build without optimisation, which is how most users build it: loops over
/// indices and words by their names, where iterators and a list of words would take four times as long.
#[allow(clippy::many_single_char_names, reason = "the standard's own names")]
#[allow(clippy::manual_rotate, reason = "a call, without optimisation")]
fn compress(state: &mut [u32; 8], block: &[u8]) {
    let mut schedule = [0_u32; 64];
    let mut at = 0;
    while at < 16 {
        let from = at * 4;
        schedule[at] = u32::from_be_bytes([block[from], block[from + 1], block[from + 2], block[from + 3]]);
        at += 1;
    }
    while at < 64 {
        let (w15, w2) = (schedule[at - 15], schedule[at - 2]);
        let s0 = rotate!(w15, 7) ^ rotate!(w15, 18) ^ (w15 >> 3);
        let s1 = rotate!(w2, 17) ^ rotate!(w2, 19) ^ (w2 >> 10);
        schedule[at] = schedule[at - 16].wrapping_add(s0).wrapping_add(schedule[at - 7]).wrapping_add(s1);
        at += 1;
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    at = 0;
    while at < 64 {
        let s1 = rotate!(e, 6) ^ rotate!(e, 11) ^ rotate!(e, 25);
        // For each bit: the word `f` or `g`, as `e` says.
        let choice = g ^ (e & (f ^ g));
        let first =
            h.wrapping_add(s1).wrapping_add(choice).wrapping_add(ROUND_CONSTANTS[at]).wrapping_add(schedule[at]);
        let s0 = rotate!(a, 2) ^ rotate!(a, 13) ^ rotate!(a, 22);
        // For each bit: `b` where `a` agrees with it, else `c`.
        let majority = b ^ ((a ^ b) & (b ^ c));
        h = g;
        g = f;
        f = e;
        e = d.wrapping_add(first);
        d = c;
        c = b;
        b = a;
        a = first.wrapping_add(s0).wrapping_add(majority);
        at += 1;
    }
    for (word, change) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(change);
    }
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
