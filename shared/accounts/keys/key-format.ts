import { crc32 } from 'node:zlib';

/** What a key represents: the router itself (made by `rtr setup` and `rtr keys`), a person, or a team. */
export const keyKinds = ['router', 'user', 'team'] as const;
export type KeyKind = (typeof keyKinds)[number];

/** The parts of a raw key. `secret` includes the checksum at its end; it must not outlive its verification. */
export interface ParsedKey {
  kind: KeyKind;
  id: string;
  secret: string;
}

/** The spelling of keys of each kind: `rtr_<id>_<secret>`, `user.<id>.<secret>`, `team.<id>.<secret>`. */
export const keySpelling: Readonly<Record<KeyKind, { word: string; separator: string }>> = {
  router: { word: 'rtr', separator: '_' },
  user: { word: 'user', separator: '.' },
  team: { word: 'team', separator: '.' },
};

/** Crockford's base 32 in lower case: no i, l, o or u, so that a key survives being read aloud or typed. */
export const keyAlphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** 12 characters of 5 bits: with a billion keys, the chance that the next id is taken is one in a billion. */
export const idLength = 12;

/** 33 characters of 5 bits: 165 random bits. */
export const randomLength = 33;

/** Seven characters of 5 bits hold the 32 bits of a CRC-32. */
export const checksumLength = 7;

/**
 * Computes the last characters of a key from everything before them, so that a typo or random garbage is recognised without computing a
 * hash. It is no protection against a forger, who can compute it as well.
 */
export function keyChecksum(unchecked: string): string {
  let rest = crc32(unchecked);
  let checksum = '';
  for (let place = 0; place < checksumLength; place++) {
    checksum = keyAlphabet.charAt(rest % 32) + checksum;
    rest = Math.floor(rest / 32);
  }
  return checksum;
}
