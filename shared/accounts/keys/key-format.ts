import { crc32 } from 'node:zlib';

/** What a key represents: the router itself (made by `rtr setup` and `rtr keys`), a person, or a team. */
export const keyKinds = ['router', 'user', 'team'] as const;
export type KeyKind = (typeof keyKinds)[number];

/** The parts of a raw key. `secret` includes the checksum at its end, and must not be kept after the key is verified. */
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

/** Crockford's base 32 in lower case. It lacks i, l, o and u, so that a key can be read aloud or typed without mistakes. */
export const keyAlphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Characters of an id, 5 bits each. With a billion keys, the chance that the next id exists already is one in a billion. */
export const idLength = 12;

/** Random characters of a secret, 5 bits each: 165 random bits. */
export const randomLength = 33;

/** Characters of a checksum, 5 bits each. Seven characters have room for the 32 bits of a CRC-32. */
export const checksumLength = 7;

/**
 * Computes the last characters of a key from everything before them, so that a typo or random garbage is recognised without computing a
 * hash. The checksum is no protection against a forger, who can compute it as well.
 */
export function computeKeyChecksum(unchecked: string): string {
  let remainder = crc32(unchecked);
  let checksum = '';
  for (let place = 0; place < checksumLength; place++) {
    checksum = keyAlphabet.charAt(remainder % 32) + checksum;
    remainder = Math.floor(remainder / 32);
  }
  return checksum;
}
