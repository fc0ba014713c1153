import { beforeEach, describe, expect, it } from 'vitest';
import { setup } from '#services/rtr/commands/setup.ts';
import { openKeyCommands, type OpenKeyCommands } from '../../../helpers/rtr/open-key-commands.ts';

let { store, verifier, lines, announced, context } = {} as OpenKeyCommands;

beforeEach(async () => {
  ({ store, verifier, lines, announced, context } = await openKeyCommands());
});

describe('rtr setup', () => {
  it('creates a key that works, shows it once, and shows it masked later', async () => {
    const first = await setup(context);
    const raw = first.created?.rawKey ?? '';
    const link = `Open this link within 24 hours to become the first administrator: ${first.adminLink}`;
    expect(lines).toEqual([`Your router key, shown only this once: ${raw}`, link]);
    expect(announced).toEqual([first.created?.record.id]);
    expect(await verifier.verify(raw)).toMatchObject({ kind: 'router', class: 'normal' });

    lines.length = 0;
    const second = await setup(context);
    expect(second.created).toBeUndefined();
    expect(second.usable).toEqual([first.created?.record]);
    expect(lines.join('')).toContain(`…${raw.slice(-4)}`);
    expect(lines.join('')).not.toContain(raw.slice(-12));
    expect(announced).toHaveLength(1);
  });

  it('creates no new key when the first was revoked, and names the command that does', async () => {
    const { created } = await setup(context);
    await store.revoke(created?.record.id ?? '', Date.now());
    lines.length = 0;
    expect(await setup(context)).toMatchObject({ created: undefined, usable: [] });
    const hint =
      'Set up already, but no router key can be used. Make one where the router runs: rtr keys create --name <name>';
    const link = /^Open this link .*: https:\/\/llm\.example\.com\/link\/[\w-]{43}$/;
    expect(lines).toEqual([hint, expect.stringMatching(link)]);
  });

  it('creates one key when three processes set up the same cluster at once', async () => {
    await Promise.all([1, 2, 3].map(() => setup({ ...context, json: true })));
    const results = lines.map((line) => JSON.parse(line) as { created: boolean; key?: string });
    expect(results.filter(({ created }) => created)).toHaveLength(1);
    expect(results.filter(({ key }) => key !== undefined)).toHaveLength(1);
    expect(await store.list()).toHaveLength(1);
  });
});
