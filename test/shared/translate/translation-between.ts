import type { Translation } from '#shared/translate/translation.ts';
import { translations } from '#shared/translate/translations.ts';

/** Returns the names of the upstream formats that serve a client format. */
export function upstreamsOf(client: string): string[] {
  return translations.filter((each) => each.client.name === client).map(({ upstream }) => upstream.name);
}

/** Returns the names of the client formats that an upstream format serves. */
export function clientsOf(upstream: string): string[] {
  return translations.filter((each) => each.upstream.name === upstream).map(({ client }) => client.name);
}

export function translationBetween(client: string, upstream: string): Translation {
  const found = translations.find((each) => each.client.name === client && each.upstream.name === upstream);
  if (!found) throw new Error(`there is no translation from ${client} to ${upstream}`);
  return found;
}
