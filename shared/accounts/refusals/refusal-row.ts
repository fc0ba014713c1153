import { z } from 'zod';
import { other } from '../ledger/totals.ts';
import { storedJson } from '../redis/stored-value.ts';
import type { RefusedKey } from '../keys/invalid-key-error.ts';

/** What refusals are counted by. Absent ones are empty: a row without a key is of requests that named none that is known. */
export interface RefusalRow {
  /** Of the error table. */
  code: string;
  key: string;
  user: string;
  team: string;
}

/** The row that a refusal of a key, or of nobody, belongs to. */
export function refusalRowOf(code: string, key: RefusedKey | undefined): RefusalRow {
  const { id = '', kind, ownerId = '' } = key ?? {};
  return { code, key: id, user: kind === 'user' ? ownerId : '', team: kind === 'team' ? ownerId : '' };
}

/** The row that stands for all further ones of a code. */
export function otherRefusalRow(code: string): RefusalRow {
  return { code, key: other, user: '', team: '' };
}

export function encodeRefusalRow({ code, key, user, team }: RefusalRow): string {
  return JSON.stringify([code, key, user, team]);
}

/** A row from its text; undefined when it is none. */
export function decodeRefusalRow(text: string): RefusalRow | undefined {
  const { data } = storedJson(z.array(z.unknown())).safeParse(text);
  if (!data) return undefined;
  const [code = '', key = '', user = '', team = ''] = data.map(String);
  return { code, key, user, team };
}
