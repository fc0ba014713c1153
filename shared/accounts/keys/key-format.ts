import { crc32 } from 'node:zlib';

/** What a key represents: the router itself (made by `rtr setup` and `rtr keys`), a person, or a team. */
export const keyKinds = ['router', 'user', 'team'] as const;
export type KeyKind = (typeof keyKinds)[number];

/** The parts of a raw key. `secret` includes the checksum at its end, and must not be kept after the key is verified. */
export interface ParsedKey {
  id: string;
  secret: string;
}

/** The text in front of the id of a new key: `rtr_<id>_<secret>`, `user.rtr_<id>_<secret>`, `team.rtr_<id>_<secret>`. */
export const keyStarts: Readonly<Record<KeyKind, string>> = { router: 'rtr_', user: 'user.rtr_', team: 'team.rtr_' };

/** Crockford's base 32 in lower case. It lacks i, l, o and u, so that a key can be read aloud or typed without mistakes. */
export const keyAlphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Characters of an id, 5 bits each. With a billion keys, the chance that the next id exists already is one in a billion. */
export const idLength = 12;

/** Random characters of a secret, 5 bits each: 165 random bits. */
export const randomLength = 33;

/** Characters of a checksum, 5 bits each. Seven characters have room for the 32 bits of a CRC-32. */
export const checksumLength = 7;

/** The name of the router key that `rtr up` and `rtr setup` create. The key becomes that of the first administrator. */
export const firstKeyName = 'first key';

/** Regular expression for one character of `keyAlphabet`. */
export const keyCharacter = '[0-9a-hjkmnp-tv-z]';

/**
 * Regular expression, without anchors, that finds keys of every kind in a text, including `user.<id>.<secret>` and `team.<id>.<secret>` of
 * releases before 1.0.
 */
export const keyPattern =
  `(?:(?:(?:user|team)\\.)?rtr_${keyCharacter}{${idLength}}_|(?:user|team)\\.${keyCharacter}{${idLength}}\\.)` +
  `${keyCharacter}{${randomLength + checksumLength}}`;

/**
 * Computes the last characters of a key from everything before them, so that a typo or random garbage is recognised without computing a
 * hash or reading the store. The checksum is no protection against a forger, who can compute it as well.
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
