import type { Translation } from '#shared/translate/translation.ts';
import { translations } from '#shared/translate/translations.ts';

/** The names of the formats that have a translation to each other. */
export const formatNames = [...new Set(translations.map(({ client }) => client.name))];

/** The translation of a client format to an upstream format, by their names. */
export function translationBetween(client: string, upstream: string): Translation {
  const found = translations.find((each) => each.client.name === client && each.upstream.name === upstream);
  if (!found) throw new Error(`there is no translation from ${client} to ${upstream}`);
  return found;
}
