import type { Browser } from 'playwright-core';
import type { ConsoleClient } from './console-client.ts';
import { openConsolePage, wide, type LookOptions, type WatchedPage } from './console-page.ts';

/** Somebody who is signed in at the console, by their client of the API. */
export interface SignedInPerson {
  client: ConsoleClient;
  id: string;
}

/** The password of people that `joinConsole` makes. */
export const joinPassword = 'tulip anvil 42 harbour';

/** Makes the account of a one-time link. @param link as `/link/<token>`, with or without an origin */
export async function joinConsole(client: ConsoleClient, link: string, name: string): Promise<SignedInPerson> {
  const person = { name, email: `${name.toLowerCase()}@example.com`, password: joinPassword };
  const { body } = await client.post(`/links/${link.split('/link/')[1] ?? ''}`, person);
  return { client, id: String(body.user.id) };
}

/** Opens a tab in which a person is signed in already. @param origin where the console is, for instance by another name */
export async function openAs(
  browser: Browser,
  { client: { url, cookie = '' } }: SignedInPerson,
  { origin = url, look = wide }: { origin?: string; look?: LookOptions } = {},
): Promise<WatchedPage> {
  const [name = '', value = ''] = cookie.split('=');
  const here = { name, value, domain: new URL(origin).hostname, path: '/', expires: -1 };
  const kept = { ...here, httpOnly: true, secure: false, sameSite: 'Lax' } as const;
  return openConsolePage(browser, origin, look, { cookies: [kept], origins: [] });
}
