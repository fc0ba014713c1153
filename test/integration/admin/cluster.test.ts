import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { made } from '../../helpers/accounts/made.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { chatLine } from '../../helpers/batches/batch-clients.ts';
import type { Step } from '../../helpers/broker/scripted-handler.ts';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { startScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { adminCommandsOf } from '../../helpers/rtr/admin-commands.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';
import { useFolder } from '../../helpers/files/temporary-folder.ts';

const folder = useFolder();

const cluster = useStarted(() => startScriptedCluster());
const rtr = adminCommandsOf(cluster);
beforeAll(async () => {
  await cluster.addScripted({ id: 'one' });
  await rtr('users', 'create', 'ada@example.com', '--name', 'Ada');
  await rtr('teams', 'create', 'Research');
});

async function statusWith(key: string): Promise<number> {
  const answer = await cluster.post([{ write: '{}' }], {}, { headers: { authorization: `Bearer ${key}` } });
  await answer.text();
  return answer.status;
}

// Ahead of the others, which send more requests.
describe('rtr usage', () => {
  beforeAll(async () => {
    await ask('first', [{ write: '{}' }]);
    await ask('second', [{ fail: 'invalid_request' }]);
    await until(async () => (await listed('--limit', '10')).length === 2);
  });

  async function ask(id: string, steps: Step[]): Promise<void> {
    await (await cluster.post(steps, {}, { headers: { 'x-request-id': id } })).text();
  }

  /** The ids of the requests that a command prints. */
  async function listed(...options: string[]): Promise<string[]> {
    const lines = await rtr('usage', 'requests', ...options, '--json');
    return lines.map((line) => (JSON.parse(line) as { id: string }).id);
  }

  it('requests lists those with an id, with an error code, and of a span', async () => {
    expect(await listed()).toEqual(['second', 'first']);
    const [request] = await rtr('usage', 'request', 'first', '--json');
    expect(JSON.parse(request ?? '')).toMatchObject({ id: 'first', outcome: 'done', timeline: [{ end: 'done' }] });
    const failed = await rtr('usage', 'requests', '--outcome', 'failed', '--json');
    const { code } = JSON.parse(failed[0] ?? '') as { code: string };
    expect(await listed('--code', code)).toEqual(['second']);
    expect(await listed('--code', 'queue_timeout')).toEqual([]);
    expect(await listed('--from', '1h')).toEqual(['second', 'first']);
    expect(await listed('--to', '1h')).toEqual([]);
    await expect(rtr('usage', 'request', 'third')).rejects.toThrow(/does not exist/);
  });

  it('report sums up hours', async () => {
    const hours = ['usage', 'hours', '--from', '1h'];
    const byModel = await rtr(...hours);
    expect(byModel.join('\n')).toMatch(
      /^ID +NAME +REQUESTS +FAILED +PROMPT TOKENS +COMPLETION TOKENS +COST\ndemo +demo +2 +1 +\d/m,
    );
    const byKey = await rtr(...hours, '--by', 'key', '--key', cluster.keyId);
    expect(byKey.join('\n')).toMatch(new RegExp(`^${cluster.keyId} +test +2 +1 `, 'm'));
    expect(byKey[0]).toMatch(/^from +\S+ \d\d:00$/);
    const unused = await rtr.json(...hours, '--by', 'key', '--key', '0123456789ab');
    expect(unused.groups).toEqual([]);
    // 24 hours by default, with the current one.
    const { times, groups } = await rtr.json('usage', 'hours');
    expect(times).toHaveLength(24);
    expect(times[23] - times[22]).toBe(3_600_000);
    const counts: number[] = groups[0].steps.map((step: { requests: number }) => step.requests);
    expect(counts.slice(0, -2).every((count) => count === 0)).toBe(true);
    expect(counts.slice(-2).reduce((sum, count) => sum + count)).toBe(2);
  });

  it('report refuses hours for groups that are not kept by the hour', async () => {
    const hours = ['usage', 'hours'];
    const unkept = { '--model': 'demo', '--tier': 'gpu', '--purpose': 'main' };
    for (const narrowed of Object.entries(unkept))
      await expect(rtr(...hours, ...narrowed)).rejects.toThrow(`unknown option '${narrowed[0]}'`);
    await expect(rtr(...hours, '--by', 'tier')).rejects.toThrow('Allowed choices are model, key, team, user.');
    await expect(rtr(...hours, '--from', '30d')).rejects.toThrow(/hours are kept for 8 days/);
    await expect(rtr(...hours, '--key', cluster.keyId)).rejects.toThrow(/must not be model/);
  });

  it('overview sums up a span', async () => {
    const lines = await rtr('usage', 'overview', '--span', '1h');
    const text = lines.join('\n');
    expect(text).toMatch(/^totals +requests=2 failed=1 /m);
    expect(text).toMatch(/^models:\nID .*\ndemo +demo +- +2 +1 /m);
    expect(text).toMatch(/^keys:\nID .*\n\S+ +test +- +2 +1 /m);
    expect(text).toMatch(/^workers:\nID .*\n\S+ +\S+ +- +\d/m);
    expect(text).toMatch(/^total ms +p50=[\d.]+ p95=[\d.]+/m);
  });
});

describe('rtr keys', () => {
  it('creates keys of people, teams and the router that work, and changes, rotates and revokes them', async () => {
    const laptop = await rtr.json('keys', 'create', '--name', 'laptop', '--user', 'ada@example.com');
    const { raw: key } = laptop;
    const { id } = laptop.key;
    expect(await statusWith(key)).toBe(200);
    const settings = '--models other --tiers gpu --expires 30d --class low --limit costPerDay=1'.split(' ');
    const { key: ofTeam, raw: teamKey } = await rtr.json(
      'keys',
      'create',
      '--name',
      'ci',
      '--team',
      'Research',
      ...settings,
    );
    const narrow = { class: 'low', models: ['other'], tiers: ['gpu'], limits: { costPerDay: 1 } };
    expect(ofTeam).toMatchObject({ kind: 'team', ...narrow });
    expect(ofTeam.expiresAt - Date.now()).toBeGreaterThan(29 * 86_400_000);
    expect(await statusWith(teamKey)).toBe(403);
    const freed = ['--models', 'none', '--tiers', 'none', '--expires', 'none', '--limit', 'cost-per-day=none'];
    const changed = await rtr.json('keys', 'set', ofTeam.id, ...freed, '--name', 'build');
    expect(changed).toMatchObject({ name: 'build', limits: {} });
    expect(changed.models ?? changed.tiers ?? changed.expiresAt).toBeUndefined();
    await until(async () => (await statusWith(teamKey)) === 200);
    const [made = ''] = await rtr('keys', 'create', '--name', 'farm', '--kind', 'router', '--weight', '3');
    expect(made).toMatch(/^Key "farm", shown only this once: rtr_\w+$/);
    const { key: next, raw: nextKey } = await rtr.json('keys', 'rotate', ofTeam.id, '--overlap', '0h');
    expect([await statusWith(teamKey), await statusWith(nextKey)]).toEqual([401, 200]);
    expect(await rtr.json('keys', 'show', ofTeam.id)).toMatchObject({ replacedBy: next.id });
    // The person's stored data belongs to the person.
    await expect(rtr('keys', 'rotate', id)).rejects.toThrow('Revoke it, and make another one.');
    expect(await rtr('keys', 'revoke', key)).toEqual([`Key ${id} is revoked.`]);
    expect(await statusWith(key)).toBe(401);
    const shown = (await rtr('keys', 'show', id)).join('\n');
    expect(shown).toMatch(/^owner +Ada$/m);
    expect(shown).toMatch(/^issued +stores-as=key:\w+/m);
    expect(shown).toMatch(/^revoked +20/m);
    expect(await rtr('keys', 'list', '--owner', 'user:ada@example.com')).toHaveLength(2);
    expect((await rtr('keys', 'list')).join('\n')).toMatch(new RegExp(`${next.id} .* Research +team .* build`));
  });

  it('does not repeat text that is not a key', async () => {
    await expect(rtr('keys', 'revoke', 'rtr_secret')).rejects.toThrow('This is neither a key nor the id of a key.');
    await expect(rtr('keys', 'show', '000000000000')).rejects.toThrow('(/keys/000000000000)');
  });
});

describe('rtr limits', () => {
  it('sets some limits of a party and keeps the others, and shows their use', async () => {
    await rtr('limits', 'set', 'user:ada@example.com', 'requests-per-minute=60', 'tokens-per-day=1000');
    const changed = await rtr('limits', 'set', 'user:ada@example.com', 'tokens-per-day=none', 'cost-per-month=20');
    expect(changed).toEqual(['Limits of ada@example.com: requests-per-minute=60 cost-per-month=20.']);
    await rtr('limits', 'set', 'team:Research', 'concurrent-requests=5');
    await rtr('limits', 'set', `key:${cluster.keyId}`, 'requests-per-minute=5');
    await until(async () => {
      await statusWith(cluster.key);
      expect((await rtr('limits', 'show', `key:${cluster.keyId}`))[1]).toMatch(/ (?!0 )[\d.]+ +5 /);
    });
    expect(await rtr('limits', 'show')).toHaveLength(5);
    expect((await rtr('limits', 'show', 'team:Research'))[1]).toMatch(/Research +concurrent-requests +0 +5/);
    const shown = await rtr.json('limits', 'show', 'team:Research');
    expect(shown).toMatchObject({ limits: [{ name: 'concurrentRequests' }] });
    const turned = await rtr.json('keys', 'create', '--name', 'turned', '--limit', 'requests-per-minute=7');
    const { id: first } = turned.key;
    const { key: next, raw: nextKey } = await rtr.json('keys', 'rotate', first);
    expect(await statusWith(nextKey)).toBe(200);
    for (const id of [next.id, first]) {
      const [line] = (await rtr('limits', 'show', `key:${id}`)).slice(1);
      expect(line).toMatch(new RegExp(`^key:${next.id} +turned +requests-per-minute +[\\d.]+ +7 `));
    }
    await rtr('keys', 'revoke', first);
    await rtr('keys', 'revoke', next.id);
    await expect(rtr('limits', 'set', 'somebody', 'cost-per-day=1')).rejects.toThrow('none of user:<address>');
    await rtr('limits', 'set', `key:${cluster.keyId}`, 'requests-per-minute=none');
    await until(async () => (await statusWith(cluster.key)) === 200);
  });
});

describe('rtr usage and rtr audit', () => {
  it('sums up, lists and exports requests, and counts refused ones', async () => {
    expect(await statusWith(cluster.key)).toBe(200);
    const filters = ['--key', cluster.keyId];
    await until(async () => expect((await rtr('usage', 'requests', ...filters)).length).toBeGreaterThan(1));
    const report = await rtr('usage', 'report', '--from', '7d', '--by', 'key', ...filters);
    expect(report.join('\n')).toMatch(new RegExp(`^${cluster.keyId} +test +[1-9]`, 'm'));
    expect(await rtr.json('usage', 'report', '--step', 'month')).toMatchObject({ step: 'month' });
    expect((await rtr('usage', 'requests', '--limit', '1', '--json')).length).toBe(1);
    const { content } = await rtr.whole('usage', 'export', '--from', '2026-01-01', '--user', 'ada@example.com');
    expect(content).toMatch(/^id,/);
    const asJson = (await rtr.whole('usage', 'export', '--from', '2026-01-01', '--json')).content;
    expect(JSON.parse(asJson)).toContainEqual(expect.objectContaining({ key: { id: cluster.keyId, name: 'test' } }));
    const out = join(folder, 'usage.json');
    expect(await rtr('usage', 'export', '--format', 'json', '--out', out)).toEqual([`${out} is written.`]);
    expect(JSON.parse(readFileSync(out, 'utf8')).length).toBeGreaterThan(1);
    await expect(rtr('usage', 'export', '--out', out)).rejects.toThrow(`${out} exists already`);
    await statusWith('nonsense');
    await until(async () => expect((await rtr('usage', 'refusals')).join('\n')).toMatch(/invalid_api_key +\d/));
    await expect(rtr('usage', 'request', '..')).rejects.toThrow('".." is not the name or the id of anything');
    await expect(rtr('usage', 'report', '--from', 'yesterday')).rejects.toThrow('must be a date such as 2026-11-24');
  });

  it('lists and exports who changed what', async () => {
    const lines = await rtr('audit', 'list', '--action', 'team.*', '--target', 'team:Research', '--from', '1h');
    expect(lines.at(-1)).toMatch(
      / rtr +team\.create +team Research +address=127\.0\.0\.1 command-line=.+@.+ token=rtr +-$/,
    );
    expect(await rtr('audit', 'list', '--limit', '3')).toHaveLength(4);
    const ownerId = (await rtr.json('users', 'create', 'eve@example.com', '--role', 'admin')).id;
    const { accounts } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const wanted = { name: 'eves', scopes: ['admin'], expiresAt: Date.now() + 60_000, ownerId } as const;
    const token = made(await accounts.adminTokens.create(wanted));
    await adminCommandsOf({ ...cluster, token: token.raw })('teams', 'create', 'Eves');
    for (const actor of [token.record.id, `token:${token.record.id}`, ownerId, 'eve@example.com'])
      expect(await rtr('audit', 'list', '--actor', actor)).toEqual([
        expect.anything(),
        expect.stringMatching(/team\.create +team Eves .* token=eves +-$/),
      ]);
    expect(await rtr('audit', 'list', '--actor', 'ada@example.com')).toEqual(['There are no such changes.']);
    await rtr('limits', 'set', 'team:Eves', 'cost-per-day=5');
    const [, changed] = await rtr('audit', 'list', '--target', 'team:Eves', '--limit', '1');
    expect(changed).toMatch(/team\.change +team Eves .* limits\.costPerDay: none → 5$/);
    const exported = await rtr.whole('audit', 'export', '--json', '--action', 'team.create');
    expect(JSON.parse(exported.content)).toContainEqual(expect.objectContaining({ action: 'team.create' }));
    const { content } = await rtr.whole('audit', 'export', '--action', 'team.create');
    expect(content.split('\n')[0]).toMatch(/^id,at,actor_id/);
  });
});

describe('rtr workers, rtr models and rtr background', () => {
  it('list workers and models, drain a worker and undrain it', async () => {
    expect((await rtr('workers', 'list'))[1]).toMatch(/^one +gpu .* serving +- +0 +1000 .* demo +-$/);
    const drained = { id: 'one', state: 'draining', safeToStop: true, lastFor: ['demo'] };
    expect(await rtr.json('workers', 'drain', 'one')).toMatchObject(drained);
    expect((await rtr('workers', 'list'))[1]).toMatch(/^one +gpu .* draining +yes /);
    expect((await rtr('workers', 'undrain', 'one')).join('\n')).toMatch(/^state +serving$/m);
    const said = (await rtr('workers', 'drain', 'one')).join('\n');
    for (const line of [/^safe to stop +yes$/m, /^last for +demo$/m]) expect(said).toMatch(line);
    await rtr('workers', 'undrain', 'one');
    await expect(rtr('workers', 'drain', 'none')).rejects.toThrow('No worker none is connected.');
    expect((await rtr('models', 'list')).join('\n')).toMatch(/demo +model .* gpu +1 /);
  });

  it('list the workers that are gone, with when and why', async () => {
    expect(await rtr('workers', 'gone')).toEqual(['No worker has gone.']);
    const worker = await cluster.addScripted({ id: 'short' });
    await worker.drain(1_000);
    await worker.close();
    await until(async () => (await rtr('workers', 'gone')).length === 2);
    expect((await rtr('workers', 'gone'))[1]).toMatch(/^short +gpu .* \d\d:\d\d +drained +- +0 +demo$/);
    expect(await rtr.json('workers', 'gone')).toMatchObject({ id: 'short', why: 'drained', state: 'draining' });
  });

  it('show queues, and report that a job does not wait if it does not', async () => {
    const shown = (await rtr('background', 'show')).join('\n');
    const [, queue = ''] = /^NAME +WAITING.*\n(\S+)/m.exec(shown) ?? [];
    expect((await rtr('background', 'repeat', queue, 'nothing')).join('\n')).toMatch(/^repeated +no$/);
    expect(await rtr('background', 'webhooks')).toEqual(['No events are on their way, and none were given up.']);
    expect(await rtr.json('background', 'show')).toMatchObject({ failing: [] });
  });
});

describe('rtr prices, rtr settings and rtr registry', () => {
  it('set, list and reset a price', async () => {
    const prices = ['--input', '0.5', '--output', '1.5', '--cached-input', '0.1'];
    const set = await rtr('prices', 'set', 'lab/model:1', ...prices);
    expect(set.join('\n')).toMatch(/^model +lab\/model:1\ninput +0\.5\ncached input +0\.1\noutput +1\.5$/m);
    expect(await rtr.json('prices', 'list', '--source', 'changed')).toMatchObject({
      model: 'lab/model:1',
      source: 'changed',
    });
    expect((await rtr('prices', 'list')).length).toBeGreaterThan(2);
    await rtr('prices', 'reset', 'lab/model:1');
    expect(await rtr('prices', 'list', '--source', 'changed')).toEqual(['There are no prices.']);
    await expect(rtr('prices', 'set', 'x', '--input', 'free')).rejects.toThrow('must be a number');
  });

  it('show and set settings', async () => {
    const start = ['--new-members-limit', 'cost-per-day=5', '--new-members-ceiling-tiers', 'gpu'];
    const lines = await rtr('settings', 'set', '--audit-days', '90', '--no-members-make-keys', ...start);
    expect(lines.join('\n')).toMatch(
      /members make keys +no[\s\S]*new members +limits=cost-per-day=5 ceiling=tiers=gpu/,
    );
    const changed = { auditDays: 90, newMembers: { ceiling: { tiers: ['gpu'] } } };
    expect(await rtr.json('settings', 'show')).toMatchObject(changed);
    const show = async () => (await rtr('settings', 'show')).find((line) => line.startsWith('alert emails'));
    expect(await show()).toMatch(/^alert emails +router=yes$/);
    for (const [given, shown] of [
      ['false', 'no'],
      ['ops@example.com, Boss@example.com', 'ops@example.com,boss@example.com'],
      ['true', 'yes'],
    ] as const) {
      await rtr('settings', 'set', '--alert-emails-router', given);
      expect(await show()).toMatch(new RegExp(`^alert emails +router=${shown}$`));
    }
    for (const [option, wrong, sentence] of [
      ['--alert-emails-router', 'somebody', /^alertEmails\.router/],
      ['--audit-days', 'never', 'must be a whole number from 30 to 3650.'],
      ['--invitation-days', '0', 'must be a whole number from 1 to 30.'],
    ] as const)
      await expect(rtr('settings', 'set', option, wrong)).rejects.toThrow(sentence);
    const freed = ['--new-members-limit', 'cost-per-day=none', '--new-members-ceiling-tiers', 'none'];
    await rtr('settings', 'set', '--members-make-keys', ...freed);
    expect(await rtr.json('settings', 'show')).toMatchObject({ newMembers: { limits: {}, ceiling: {} } });
  });

  it('check, store, show and revert a registry', async () => {
    const [good, bad] = [join(folder, 'good.yaml'), join(folder, 'bad.yaml')];
    writeFileSync(good, '# names\nmodels:\n  fast:\n    targets: [{ model: demo }]\n');
    writeFileSync(bad, 'models:\n  fast:\n    targets: [{ model: 3 }]\n');
    for (const [file, code, sentence] of [
      [good, 0, `${good} can be stored.`],
      [bad, 1, 'line 3, models.fast.targets.0.model'],
    ] as const) {
      const checked = await rtr.whole('registry', 'check', '-f', file);
      expect(checked).toMatchObject({ code, lines: [expect.stringContaining(sentence)] });
    }
    expect(await rtr('registry', 'set', '-f', good, '--note', 'first')).toEqual(['Version 1 is in use.']);
    await expect(rtr('registry', 'set', '-f', bad)).rejects.toThrow('models.fast.targets.0.model');
    await adminCommandsOf({ ...cluster, piped: 'models: {}\n' })('registry', 'set', '-f', '-');
    await expect(rtr('registry', 'set', '-f', good, '--based-on', '1')).rejects.toThrow('Version 2 is the newest one');
    const empty = adminCommandsOf({ ...cluster, piped: '# nothing\n' });
    await expect(empty('registry', 'set', '-f', '-')).rejects.toThrow('would remove all names and rules');
    expect(await empty('registry', 'set', '-f', '-', '--empty')).toEqual(['Version 3 is in use.']);
    expect(await rtr('registry', 'revert', '1')).toEqual(['Version 4 is in use.']);
    expect((await rtr('registry', 'show')).join('\n')).toContain('# names');
    expect(await rtr('registry', 'show', '2')).toEqual(['models: {}']);
    expect(await rtr('registry', 'versions')).toHaveLength(5);
  });
});

describe('rtr admin batches and rtr admin files', () => {
  it('list, show, cancel and delete the batches and files of a router key', async () => {
    const upload = async (): Promise<string> => {
      const form = new FormData();
      form.set('purpose', 'batch');
      form.set('file', new Blob([JSON.stringify(chatLine('a', 'Hi.'))]), 'lines.jsonl');
      const answer = await post({ ...cluster, path: '/openai/files', body: form });
      return ((await answer.json()) as { id: string }).id;
    };
    const file = await upload();
    const owner = `key:${cluster.keyId}`;
    expect((await rtr('admin', 'files', 'list', owner)).join('\n')).toContain('lines.jsonl');
    const body = { input_file_id: file, endpoint: '/v1/chat/completions', completion_window: '24h' };
    const answer = await post({ ...cluster, path: '/openai/batches', body });
    const { id } = (await answer.json()) as { id: string };
    expect((await rtr('admin', 'batches', 'open')).join('\n')).toContain(id);
    expect((await rtr('admin', 'batches', 'list', owner)).join('\n')).toContain(id);
    expect((await rtr('admin', 'batches', 'show', id)).join('\n')).toMatch(/owner +key test/);
    await rtr('admin', 'batches', 'cancel', id);
    expect(await rtr.json('admin', 'batches', 'show', id)).toMatchObject({ cancelledAt: expect.any(Number) });
    await expect(rtr('admin', 'files', 'download', file, '--owner', owner)).rejects.toThrow(
      'You are not allowed to do this.',
    );
    const second = await upload();
    expect(await rtr('admin', 'files', 'delete', second, '--owner', owner)).toEqual([`The file ${second} is deleted.`]);
    expect((await rtr('admin', 'files', 'list', owner, '--json')).length).toBe(1);
  });
});
