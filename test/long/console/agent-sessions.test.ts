// @module-tag chromium
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { phone } from '../../helpers/console/console-page.ts';
import { choose } from '../../helpers/console/page-actions.ts';
import { expectAccessible, expectGood } from '../../helpers/console/page-checks.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openAs, openPageAs, type KnownPerson } from '../../helpers/console/open-as.ts';
import { adminCommandsOf, type AdminCommands } from '../../helpers/rtr/admin-commands.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';

describe('the page of agent sessions', () => {
  const here = shareConsole();
  let rtr: AdminCommands;
  /** An administrator, without any session of an agent yet, and their key. */
  let admin: KnownPerson;
  let own: string;
  let page: Page;
  /** The newest session of Claude Code, as its rows begin. */
  let session: string;

  beforeAll(async () => {
    admin = await here.invite('Grace', { role: 'admin' });
    rtr = adminCommandsOf(here.cluster);
    own = String((await rtr.json('keys', 'create', '--name', 'laptop', '--user', admin.email)).raw);
  });
  beforeEach(async () => {
    ({ page } = await openAs(admin));
  });

  const ask = (
    key: string,
    headers: Record<string, string>,
    content: string,
    signal = new AbortController().signal,
  ) => {
    const body = { model: 'demo', max_tokens: 50, messages: [{ role: 'user', content }] };
    return post({ url: here.cluster.url, key, path: '/anthropic/v1/messages', body, headers, signal });
  };

  async function send(key: string, headers: Record<string, string>): Promise<void> {
    const answer = await ask(key, headers, 'Hello!');
    expect(answer.status, await answer.text()).toBe(200);
  }

  /** What Claude Code says of a turn of a new session, and of those of an agent that it has started, and of that one's. */
  function newSession() {
    const id = randomUUID();
    session = `Claude Code ${id.slice(0, 6)}`;
    const main = { 'x-claude-code-session-id': id, 'x-claude-code-request-class': 'main' };
    const sub = { ...main, 'x-claude-code-request-class': 'subagent' };
    const agent = { ...sub, 'x-claude-code-agent-id': 'agent-1', 'x-claude-code-agent-type': 'Explore' };
    const child = { ...sub, 'x-claude-code-agent-id': 'agent-2', 'x-claude-code-parent-agent-id': 'agent-1' };
    return { main, agent, child };
  }

  /** Checks the page for accessibility in both colour schemes and at a phone's width, where nothing may stand out. */
  async function expectGoodAt(path: string): Promise<void> {
    await expectAccessible(page);
    const { page: small } = await openPageAs(admin, path, { look: phone });
    await expectGood(small);
  }

  it('says how a session comes there while there is none', async () => {
    await page.goto('/');
    await page.getByRole('link', { name: 'Agent sessions' }).click();
    await choose(page, 'Owner', 'Your own');
    await page.getByRole('heading', { name: 'No sessions yet' }).waitFor();
    await page.getByText('CLAUDE_CODE_GATEWAY_HINT_HEADERS=1').waitFor();
    await expectGoodAt('/sessions');
  });

  it('shows a session while it runs, and then what it came to, with its agents as a tree', async () => {
    const { main, agent, child } = newSession();
    await send(own, main);
    await page.goto('/sessions');
    const row = page.getByRole('row', { name: new RegExp(session) });
    await row.getByText('Idle').waitFor();
    const leaving = new AbortController();
    const running = ask(own, agent, 'Hello!\n[demo delay=60000]', leaving.signal);
    await row.getByText('Running').waitFor();
    await row.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Agent session' }).waitFor();
    const runningTurns = page.getByRole('list', { name: 'Running turns' });
    for (const words of ['Explore agent-1', 'on demo']) await runningTurns.getByText(words).waitFor();
    const agents = page.getByRole('table', { name: 'Agents' });
    await agents.getByRole('row', { name: /Explore agent-1 Running 0 / }).waitFor();
    leaving.abort();
    await expect(running).rejects.toThrow('aborted');
    await agents.getByRole('row', { name: /Explore agent-1 1 / }).waitFor();
    await runningTurns.waitFor({ state: 'detached' });
    await send(own, child);
    await send(own, { ...main, 'x-claude-code-prev-tool-durations': 'Bash=1742;Read=9' });

    const turns = page.getByRole('table', { name: 'Turns' });
    await turns.getByRole('row', { name: /Bash 1.7 s/ }).waitFor();
    await until(async () => expect(await turns.getByRole('row').count()).toBe(5));
    // Below the agent that has started it, and further in.
    await until(async () => {
      const names = (await agents.getByRole('row').allTextContents()).slice(1);
      expect(names.map((name) => /Main agent|agent-\d/.exec(name)?.[0])).toEqual(['Main agent', 'agent-1', 'agent-2']);
    });
    const indent = async (name: string): Promise<number> =>
      (await agents.getByText(name, { exact: false }).boundingBox())?.x ?? 0;
    expect(await indent('Explore agent-1')).toBeGreaterThan(await indent('Main agent'));
    expect(await indent('agent-2')).toBeGreaterThan(await indent('Explore agent-1'));
    const tile = page.getByRole('region', { name: 'Turns', exact: true }).first();
    await tile.getByText('0 failed, 2 agents started').waitFor();
    await page.getByText('Tools: 1.8 s').waitFor();
    await turns.getByRole('img', { name: /^tools 1.8 s, queue .*, model / }).waitFor();
    await page.getByRole('table', { name: 'Models' }).getByText('no rule').waitFor();
    await turns.getByRole('button', { name: 'Details of' }).first().click();
    await page.getByRole('dialog', { name: 'Request details' }).getByText('laptop').waitFor();
    const path = new URL(page.url()).pathname;
    await page.getByRole('dialog').getByRole('link', { name: /^req_/ }).click();
    // A request leads back to its session.
    await page.getByRole('heading', { level: 1, name: 'Request', exact: true }).waitFor();
    await page.getByRole('link', { name: session }).click();
    await agents.waitFor();
    expect(new URL(page.url()).pathname).toBe(path);
    await expectGoodAt(path);
  });

  it('shows an administrator the sessions of everybody, the sums of each team, and those of one', async () => {
    const team = uniqueName('Research');
    await rtr('teams', 'create', team);
    const ofTeam = String((await rtr.json('keys', 'create', '--name', 'ci', '--team', team)).raw);
    await send(own, newSession().main);
    await send(ofTeam, { 'x-rtr-session': 'nightly' });
    await page.goto('/sessions');
    const teams = page.getByRole('table', { name: 'Sessions by team' });
    await teams.getByRole('row', { name: new RegExp(`${team} 1 1 0 `) }).waitFor();
    await page.getByRole('row', { name: new RegExp(`Other client nightly .* ${team} demo`) }).waitFor();
    await page.getByRole('row', { name: new RegExp(session) }).waitFor();
    await expectGoodAt('/sessions');
    const held = Promise.withResolvers<void>();
    await page.route(/\/agent-sessions.*team=/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await choose(page, 'Owner', team);
    // While they load, nothing is shown of anybody else.
    await page.getByText('Loading the sessions').waitFor({ state: 'attached' });
    expect(await page.getByRole('table').count()).toBe(0);
    held.resolve();
    await page.getByRole('region', { name: 'Sessions', exact: true }).getByText('1 turns, 0 agents started').waitFor();
    await page.getByRole('row', { name: /nightly/ }).waitFor();
    expect(await page.getByRole('row', { name: /Claude Code/ }).count()).toBe(0);
    const { search } = new URL(page.url());
    await expectGoodAt(`/sessions${search}`);
  });

  it('shows a member nothing of sessions that are not theirs', async () => {
    const { page: theirs } = await openPageAs(await here.invite('Bob'), '/');
    await theirs.getByRole('link', { name: 'Agent sessions' }).click();
    await theirs.getByRole('heading', { name: 'No sessions yet' }).waitFor();
    await send(own, newSession().main);
    await page.goto('/sessions');
    const href = (await page.getByRole('link', { name: session }).getAttribute('href')) ?? '';
    expect(href).toMatch(/^\/sessions\/[\da-f]{32}$/);
    await theirs.goto(href);
    await theirs.getByText('Could not load the session').waitFor();
  });
});
