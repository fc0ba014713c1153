import { z } from 'zod';
import { otherRow } from '../totals.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import type { RefusedKey } from '../../keys/invalid-key-error.ts';

/** The properties by which refusals are counted. A property without a value is empty. `key` is empty for requests without a known key. */
export interface RefusalRow {
  code: string;
  key: string;
  user: string;
  team: string;
}

export function toRefusalRow(code: string, key: RefusedKey | undefined): RefusalRow {
  const { id = '', kind, ownerId = '' } = key ?? {};
  return { code, key: id, user: kind === 'user' ? ownerId : '', team: kind === 'team' ? ownerId : '' };
}

/** Returns the row for all refusals of a code beyond the maximum of rows. */
export function toOverflowRefusalRow(code: string): RefusalRow {
  return { code, key: otherRow, user: '', team: '' };
}

export function encodeRefusalRow({ code, key, user, team }: RefusalRow): string {
  return JSON.stringify([code, key, user, team]);
}

/** Decodes the text of a row. Returns undefined for any other text. */
export function decodeRefusalRow(text: string): RefusalRow | undefined {
  const { data } = createStoredSchema(z.array(z.unknown())).safeParse(text);
  if (!data) return undefined;
  const [code = '', key = '', user = '', team = ''] = data.map(String);
  return { code, key, user, team };
}
