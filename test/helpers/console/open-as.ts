import type { BrowserContext } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { ConsoleClient } from './console-client.ts';
import {
  openContext,
  openWatched,
  waitUntilLoaded,
  wide,
  type LookOptions,
  type PageOptions,
  type WatchedPage,
} from './console-page.ts';
import { goodPassword } from './good-password.ts';
import { linkPath } from './link-path.ts';

/** Somebody who is signed in at the console, by their client of the API. */
export interface SignedInPerson {
  client: ConsoleClient;
  id: string;
}

/** The same, with what their account says of them. */
export interface KnownPerson extends SignedInPerson {
  name: string;
  email: string;
}

/** Makes the account of a one-time link, with `goodPassword`. @param link as `/link/<token>`, with or without an origin */
export async function joinConsole(
  client: ConsoleClient,
  link: string,
  name: string,
  email = `${name.toLowerCase()}@example.com`,
): Promise<KnownPerson> {
  const account = { name, email, password: goodPassword };
  const { status, body } = await client.post(linkPath(link), account);
  if (status !== 200) throw new Error(`no account: ${JSON.stringify(body)}`);
  return { client, id: String(body.user.id), name, email };
}

/** What an invitation says. */
export interface InvitationFields {
  /** Default: the name at example.com. */
  email?: string;
  teamId?: string;
  /** Default: a member. */
  role?: 'admin' | 'member';
}

/** Makes the account of somebody whom an administrator invites. */
export async function inviteToConsole(
  { client }: Pick<SignedInPerson, 'client'>,
  name: string,
  { email = `${name.toLowerCase()}@example.com`, ...fields }: InvitationFields = {},
): Promise<KnownPerson> {
  const { body } = await client.post('/invitations', { email, role: 'member', ...fields });
  return joinConsole(new ConsoleClient(client.url), String(body.link), name, email);
}

export interface TabOptions extends PageOptions {
  /** Where the console is, for instance by another name. Default: where the person has signed in. */
  origin?: string;
  /** Has a window of its own, where the test changes cookies, or what the browser keeps. */
  isAlone?: boolean;
}

const windows = new Map<string, Promise<BrowserContext>>();

/**
 * Opens a page, for the running test, in a window in which a person is signed in already. The pages of a file that are opened for a
 * person with the same look have one window, which has loaded the code of the console: see `closeWindows`.
 */
export async function openAs(
  { client: { url, cookie = '' } }: Pick<SignedInPerson, 'client'>,
  { origin = url, look = wide, isAlone = false, visits = [] }: TabOptions = {},
): Promise<WatchedPage> {
  const kind = JSON.stringify([cookie, origin, look]);
  const opening = (isAlone ? undefined : windows.get(kind)) ?? openSignedIn(cookie, origin, look);
  if (!isAlone) windows.set(kind, opening);
  const context = await opening;
  if (isAlone) onTestFinished(() => context.close());
  return openWatched(context, origin, { visits });
}

function openSignedIn(cookie: string, origin: string, look: LookOptions): Promise<BrowserContext> {
  const [name = '', value = ''] = cookie.split('=');
  const here = { name, value, domain: new URL(origin).hostname, path: '/', expires: -1 };
  const kept = { ...here, httpOnly: true, secure: false, sameSite: 'Lax' } as const;
  return openContext(origin, look, { cookies: [kept], origins: [] });
}

/** Closes the windows of people, at the end of a file. */
export async function closeWindows(): Promise<void> {
  const open = await Promise.all(windows.values());
  windows.clear();
  await Promise.all(open.map((context) => context.close()));
}

/** Opens a page as `openAs` does, and waits until it has loaded. @param path of the page */
export async function openPageAs(
  person: Pick<SignedInPerson, 'client'>,
  path: string,
  options: TabOptions = {},
): Promise<WatchedPage> {
  const opened = await openAs(person, options);
  await opened.page.goto(path);
  await waitUntilLoaded(opened.page);
  return opened;
}
