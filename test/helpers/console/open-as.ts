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

export interface SignedInPerson {
  client: ConsoleClient;
  id: string;
}

/** A signed-in person, with the facts of the account. */
export interface KnownPerson extends SignedInPerson {
  name: string;
  email: string;
}

/**
 * Creates the account of a one-time link, with `goodPassword`.
 * @param link path `/link/<token>`, with or without an origin
 */
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

export interface InvitationFields {
  /** Default: the name at example.com. */
  email?: string;
  teamId?: string;
  /** Default: a member. */
  role?: 'admin' | 'member';
}

/** Creates the account of a person whom an administrator invites. */
export async function inviteToConsole(
  { client }: Pick<SignedInPerson, 'client'>,
  name: string,
  { email = `${name.toLowerCase()}@example.com`, ...fields }: InvitationFields = {},
): Promise<KnownPerson> {
  const { body } = await client.post('/invitations', { email, role: 'member', ...fields });
  return joinConsole(new ConsoleClient(client.url), String(body.link), name, email);
}

export interface TabOptions extends PageOptions {
  /** Address of the console, for instance by another name. Default: the address at which the person signed in. */
  origin?: string;
  /** Whether the person has a window of its own, because the test changes cookies or browser storage. */
  isAlone?: boolean;
}

const windows = new Map<string, Promise<BrowserContext>>();

/**
 * Opens a page, for the running test, in a window in which a person is already signed in. The pages of a file for the same person with the
 * same look share one window, which has loaded the console's code: see `closeWindows`.
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

/**
 * Opens a page as `openAs` does, and waits until it has loaded.
 * @param path path of the page
 */
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
