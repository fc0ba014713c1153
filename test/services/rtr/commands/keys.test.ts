import { beforeEach, describe, expect, it } from 'vitest';
import { KeyVerifier } from '#shared/accounts/keys/key-verifier.ts';
import { generateKey } from '#shared/accounts/keys/generate-key.ts';
import { createRouterKey, listKeys, revokeKey } from '#services/rtr/commands/keys.ts';
import { createOwnedKey } from '#shared/accounts/keys/create-key.ts';
import { makeAdmin } from '../../../helpers/accounts/open-key-store.ts';
import { openKeyCommands, type OpenKeyCommands } from '../../../helpers/rtr/open-key-commands.ts';

let open: OpenKeyCommands;
let { store, verifier, lines, context } = {} as OpenKeyCommands;

beforeEach(async () => {
  open = await openKeyCommands();
  ({ store, verifier, lines, context } = open);
});

const wrong = (param: string) => ({ code: 'invalid_request', param });

describe('rtr keys create', () => {
  it('creates a key that works, with its name and class, and shows it once', async () => {
    const { rawKey: raw, record } = await createRouterKey(context, { name: '  build farm ', class: 'low' });
    expect(lines).toEqual([`Key "build farm", shown only this once: ${raw}`]);
    const unlimited = { ownerId: undefined, models: undefined, tiers: undefined, tools: undefined, limits: [] };
    const identity = { id: record.id, kind: 'router', name: 'build farm', class: 'low', ...unlimited };
    expect(await verifier.verify(raw)).toEqual(identity);
  });

  it('gives the key a weight', async () => {
    const { rawKey: raw } = await createRouterKey(context, { name: 'ci', class: 'normal', weight: '3' });
    expect(await verifier.verify(raw)).toMatchObject({ weight: 3 });
    for (const weight of ['0', '101', '1.5', 'x', '']) {
      const made = createRouterKey(context, { name: 'ci', class: 'normal', weight });
      await expect(made).rejects.toMatchObject(wrong('weight'));
    }
  });

  it('restricts the key to some tools', async () => {
    const tools = ['calculator', 'my wiki/*'];
    const { rawKey: raw } = await createRouterKey(context, { name: 'ci', class: 'normal', tools });
    expect(await verifier.verify(raw)).toMatchObject({ tools });
    const unnamed = createRouterKey(context, { name: 'ci', class: 'normal', tools: [''] });
    await expect(unnamed).rejects.toMatchObject(wrong('tools'));
  });

  it('prints one object for machines', async () => {
    const settings = { name: 'ci', class: 'high' } as const;
    const { rawKey: raw, record } = await createRouterKey({ ...context, json: true }, settings);
    const shown = { key: raw, id: record.id, kind: 'router', ...settings, revokedAt: null };
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([shown]);
    expect(lines[0]).not.toContain('argon2');
  });

  it.each(['', '   ', 'x'.repeat(101), 'two\nlines', '\u001b[31mred', 'hidden\u202etext'])(
    'refuses the name %j',
    async (name) => {
      await expect(createRouterKey(context, { name, class: 'normal' })).rejects.toMatchObject(wrong('name'));
      expect(await store.list()).toEqual([]);
    },
  );
});

describe('rtr keys list', () => {
  it('names the command that creates a key when there is none', async () => {
    await listKeys(context);
    expect(lines).toEqual(['There are no keys yet. Make one with: rtr keys create --name <name>']);
  });

  it('shows whose a key is, when it expires and its limits', async () => {
    const owner = await makeAdmin(open);
    const expiresAt = Date.UTC(2036, 0, 1);
    const limits = { costPerDay: 5 };
    await createOwnedKey(store, { kind: 'user', ownerId: owner.id, name: 'laptop', class: 'low', limits, expiresAt });
    await listKeys(context);
    expect(lines[1]).toMatch(/ Ada +low +\S+ +2036-01-01 +cost-per-day=5 +usable +no +laptop$/);
    lines.length = 0;
    await listKeys({ ...context, json: true });
    const shown = { owner: { id: owner.id, name: 'Ada' }, limits, expiresAt: '2036-01-01T00:00:00.000Z' };
    expect(JSON.parse(lines[0] ?? '')).toMatchObject(shown);
  });

  it('shows every key by its ends and its state, never its secret or hash', async () => {
    const one = await createRouterKey(context, { name: 'one', class: 'normal' });
    const two = await createRouterKey(context, { name: 'two', class: 'high' });
    await revokeKey(context, one.record.id);
    lines.length = 0;
    await listKeys(context);
    expect(lines).toHaveLength(3);
    const line = ({ rawKey: raw, record }: typeof one, rest: string) =>
      new RegExp(`^${record.id} .*…${raw.slice(-4)}  router  ${rest}$`);
    expect(lines[1]).toMatch(line(one, 'normal .* -        -       revoked  no       one'));
    expect(lines[2]).toMatch(line(two, 'high .* usable   no       two'));
    await listKeys({ ...context, json: true });
    const all = lines.join('\n');
    for (const { rawKey: raw } of [one, two]) expect(all).not.toContain(raw.slice(-12));
    expect(all).not.toContain('argon2');
  });
});

describe('rtr keys revoke', () => {
  it.each(['id', 'raw key'])('makes every ingress refuse a used key at once, given its %s', async (by) => {
    const { rawKey: raw, record } = await createRouterKey(context, { name: 'leaver', class: 'normal' });
    await verifier.verify(raw);
    expect(await revokeKey(context, by === 'id' ? record.id : raw)).toBe('revoked');
    await expect(verifier.verify(raw)).rejects.toMatchObject({ code: 'invalid_api_key' });
    expect(lines.at(-1)).toBe(`Key ${record.id} is revoked.`);
  });

  it('is recorded in the audit trail, like the creation of the key', async () => {
    const { record } = await createRouterKey(context, { name: 'leaver', class: 'low' });
    await revokeKey(context, record.id);
    await revokeKey(context, record.id);
    const parties = { actor: null, target: { kind: 'key', id: record.id, name: 'leaver' } };
    const from = { commandLine: expect.stringMatching(/^.+@.+$/) };
    const revoked = { ...parties, action: 'key.revoke', details: { kind: 'router' }, from };
    const created = { ...parties, action: 'key.create', details: { kind: 'router', class: 'low' } };
    expect((await open.accounts.audit.list()).entries).toMatchObject([revoked, created]);
  });

  it('announces again a key that was already revoked', async () => {
    const { record } = await createRouterKey(context, { name: 'twice', class: 'normal' });
    await revokeKey(context, record.id);
    expect(await revokeKey({ ...context, json: true }, record.id)).toBe('revoked before');
    expect(open.announced).toEqual([record.id, record.id, record.id]);
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ id: record.id, outcome: 'revoked before' });
  });

  it('is effective even if it cannot be announced, and says when it takes effect', async () => {
    const { rawKey: raw, record } = await createRouterKey(context, { name: 'leaver', class: 'normal' });
    const announce = () => Promise.reject(new Error('the broker is away'));
    await revokeKey({ ...context, announce }, record.id);
    const later =
      'The change could not be announced (the broker is away): it takes effect everywhere within 30 seconds.';
    expect(lines.slice(-2)).toEqual([`Key ${record.id} is revoked.`, later]);
    await expect(new KeyVerifier(store).verify(raw)).rejects.toMatchObject({ code: 'invalid_api_key' });
  });

  it('refuses text that is not a key, and does not repeat it', async () => {
    await expect(revokeKey(context, '000000000000')).rejects.toMatchObject({ code: 'not_found' });
    const mistyped = `${generateKey('router').rawKey}x`;
    const refusal = await revokeKey(context, mistyped).catch((error: Error) => error);
    expect(refusal).toMatchObject({ code: 'invalid_request' });
    expect(String(refusal)).not.toContain(mistyped.slice(-12));
  });
});
