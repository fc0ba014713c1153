import type { Browser } from 'playwright-core';
import { ConsoleClient } from './console-client.ts';
import { openConsolePage, waitUntilLoaded, wide, type LookOptions, type WatchedPage } from './console-page.ts';
import { goodPassword } from './good-password.ts';

/** Somebody who is signed in at the console, by their client of the API. */
export interface SignedInPerson {
  client: ConsoleClient;
  id: string;
}

/** Makes the account of a one-time link, with `goodPassword`. @param link as `/link/<token>`, with or without an origin */
export async function joinConsole(
  client: ConsoleClient,
  link: string,
  name: string,
  email = `${name.toLowerCase()}@example.com`,
): Promise<SignedInPerson> {
  const person = { name, email, password: goodPassword };
  const { status, body } = await client.post(`/links/${link.split('/link/')[1] ?? ''}`, person);
  if (status !== 200) throw new Error(`no account: ${JSON.stringify(body)}`);
  return { client, id: String(body.user.id) };
}

/** Makes the account of somebody whom an administrator invites as a member. @param fields of the invitation besides these */
export async function inviteToConsole(
  { client }: Pick<SignedInPerson, 'client'>,
  name: string,
  fields: { teamId?: string; email?: string } = {},
): Promise<SignedInPerson> {
  const { email = `${name.toLowerCase()}@example.com` } = fields;
  const { body } = await client.post('/invitations', { role: 'member', ...fields, email });
  return joinConsole(new ConsoleClient(client.url), String(body.link), name, email);
}

export interface TabOptions {
  /** Where the console is, for instance by another name. Default: where the person has signed in. */
  origin?: string;
  look?: LookOptions;
}

/** Opens a tab in which a person is signed in already. */
export async function openAs(
  browser: Browser,
  { client: { url, cookie = '' } }: Pick<SignedInPerson, 'client'>,
  { origin = url, look = wide }: TabOptions = {},
): Promise<WatchedPage> {
  const [name = '', value = ''] = cookie.split('=');
  const here = { name, value, domain: new URL(origin).hostname, path: '/', expires: -1 };
  const kept = { ...here, httpOnly: true, secure: false, sameSite: 'Lax' } as const;
  return openConsolePage(browser, origin, look, { cookies: [kept], origins: [] });
}

/** The same, with a page in it that has loaded. @param path of the page */
export async function openPageAs(
  browser: Browser,
  person: Pick<SignedInPerson, 'client'>,
  path: string,
  options: TabOptions = {},
): Promise<WatchedPage> {
  const opened = await openAs(browser, person, options);
  await opened.page.goto(path);
  await waitUntilLoaded(opened.page);
  return opened;
}
