import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { createOwnedKey } from '#shared/accounts/keys/create-key.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { useScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { joinConsole } from '../../helpers/console/open-as.ts';
import { adminCommandsOf } from '../../helpers/rtr/admin-commands.ts';
import { codeBlocks } from '../../docs/pages.ts';
import { until } from '../../helpers/until.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { useFolder } from '../../helpers/files/temporary-folder.ts';

const domain = `${uniqueName('apply')}.example`.toLowerCase();

const folder = useFolder();

const cluster = useScriptedCluster({}, {});
const rtr = adminCommandsOf(cluster);

function fileWith(text: string): string {
  const path = join(folder, `access-${Math.random().toString(36).slice(2)}.yaml`);
  writeFileSync(path, text);
  return path;
}

/** Returns everything that a file may change, as one text, without the last use of keys. */
async function everything(): Promise<string> {
  const lists = ['users', 'teams', 'keys'].map((subject) => rtr(subject, 'list', '--json'));
  const others = [rtr('prices', 'list', '--source', 'changed', '--json'), rtr('settings', 'show', '--json')];
  return JSON.stringify(await Promise.all([...lists, ...others])).replaceAll(/\\"lastUsedAt\\":[^,}]+/g, '');
}

const first = `
settings:
  invitationDays: 3
people:
  ada@${domain}: { name: Ada, role: admin }
  bob@${domain}:
    limits: { costPerDay: 5, requestsPerMinute: 60 }
    keys:
      laptop: { class: low, expiresAt: 2036-01-01 }
teams:
  Appliers:
    weight: 2
    ceiling: { tiers: [gpu] }
    members: { ada@${domain}: owner, bob@${domain}: member }
    keys:
      ci: { models: [demo], limits: { tokensPerDay: 1000000 } }
  Empty:
keys:
  barn:
prices:
  lab/one: { input: 0.5, output: 1.5 }
`;
const second = first
  .replace('costPerDay: 5, requestsPerMinute: 60', 'costPerDay: 10')
  .replace(`ada@${domain}: owner, bob@${domain}: member`, `ada@${domain}: member`)
  .replace('models: [demo], ', 'models: null, ')
  .replace('output: 1.5', 'output: 2');

describe('rtr apply', () => {
  it('applies the whole file once, then changes nothing, then applies only later edits', async () => {
    const empty = await everything();
    const [one, two] = [fileWith(first), fileWith(second)];
    const dry = await rtr.whole('apply', '-f', one, '--dry-run');
    expect(dry.code).toBe(2);
    expect(dry.lines).toContain('+ key ci of team Appliers');
    expect(dry.lines.at(-1)).toBe('10 to create, 1 to change, 0 to remove; 0 as the file says.');
    expect(await everything()).toBe(empty);

    const made = await rtr('apply', '-f', one);
    expect(made.slice(0, dry.lines.length - 1)).toEqual(dry.lines.slice(0, -1));
    const secrets = made.flatMap((line) => /^key (.+), shown only this once: (\S+)$/.exec(line)?.slice(1) ?? []);
    const names = ['barn of the router', `laptop of bob@${domain}`, 'ci of team Appliers'];
    expect(secrets.filter((_, at) => at % 2 === 0)).toEqual(names);
    for (const secret of secrets.filter((_, at) => at % 2 === 1)) {
      const answer = await cluster.post([{ write: '{}' }], {}, { headers: { authorization: `Bearer ${secret}` } });
      expect(answer.status).toBe(200);
      await answer.text();
    }
    expect(await rtr.json('teams', 'show', 'Appliers')).toMatchObject({
      weight: 2,
      ceiling: { tiers: ['gpu'] },
      members: expect.arrayContaining([expect.objectContaining({ email: `ada@${domain}`, role: 'owner' })]),
    });

    const after = await everything();
    expect(await rtr('apply', '-f', one)).toEqual(['Nothing to change: 11 things are as the file says.']);
    expect(await rtr.whole('apply', '-f', one, '--dry-run')).toMatchObject({ code: 0 });
    expect(await everything()).toBe(after);

    const changed = await rtr('apply', '-f', two);
    expect(changed).toEqual([
      `~ person bob@${domain}`,
      '    limits.requestsPerMinute: 60 → none',
      '    limits.costPerDay: 5 → 10',
      `~ member ada@${domain} of team Appliers`,
      '    role: owner → member',
      '~ key ci of team Appliers',
      '    models: demo → none',
      '~ price of lab/one',
      '    output: 1.5 → 2',
      '0 created, 4 changed, 0 removed; 6 as the file says.',
    ]);
    expect((await rtr.json('users', 'show', `bob@${domain}`)).limits).toEqual({ costPerDay: 10 });
    expect((await rtr.json('teams', 'show', 'Appliers')).members).toHaveLength(2);
    expect((await rtr('apply', '-f', two)).at(-1)).toMatch(/^Nothing to change: 10 /);
  });

  it('removes members and prices that the file does not name only with --prune, and nothing else', async () => {
    await rtr('prices', 'set', 'lab/two', '--input', '1', '--output', '1');
    await rtr('keys', 'create', '--name', 'kept', '--team', 'Appliers');
    const file = fileWith(second);
    expect(await rtr('apply', '-f', file, '--prune')).toEqual([
      `- member bob@${domain} of team Appliers`,
      '    role: member → none',
      '- price of lab/two',
      '0 created, 0 changed, 2 removed; 10 as the file says.',
    ]);
    expect((await rtr('keys', 'list')).join('\n')).toContain('kept');
    await rtr('apply', '-f', file, '--prune');
    const only = fileWith(`people:\n  ada@${domain}:\n`);
    expect(await rtr('apply', '-f', only, '--prune')).toEqual(['Nothing to change: one thing is as the file says.']);
  });

  it('writes the secrets of new keys into a file that only its owner can read', async () => {
    const file = fileWith('keys:\n  one:\n  two:\n');
    const out = join(folder, 'keys.jsonl');
    const printed = (await rtr('apply', '-f', file, '--keys-out', out, '--json')).map((line) => JSON.parse(line));
    expect(printed).toMatchObject([{ does: 'create', what: 'key one of the router' }, {}, { create: 2, done: true }]);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    const written = readFileSync(out, 'utf8').trimEnd().split('\n');
    expect(written.map((line) => JSON.parse(line))).toMatchObject([
      { owner: '', name: 'one', key: expect.stringMatching(/^rtr_/) },
      { owner: '', name: 'two' },
    ]);
    expect(JSON.stringify(printed)).not.toContain(JSON.parse(written[0] ?? '').key);
    const more = fileWith('keys:\n  three:\n');
    const taken = `${out} cannot be used: it is there already.`;
    await expect(rtr('apply', '-f', more, '--keys-out', out)).rejects.toThrow(taken);
    expect((await rtr('keys', 'list')).join('\n')).not.toContain('three');
  });

  it('hides values that it gives to a key from its owner, including values that the owner has set before', async () => {
    await rtr('teams', 'create', 'Owners');
    const email = `olga@${domain}`;
    const { link } = await rtr.json('invitations', 'create', email, '--team', 'Owners');
    const { client: olga } = await joinConsole(new ConsoleClient(cluster.url), String(link), 'Olga', email);
    await rtr('teams', 'members', 'set', 'Owners', email, '--role', 'owner');
    const [team] = (await olga.get('/teams')).body;
    const key = { kind: 'team', teamId: team.id, name: 'ci', class: 'low', limits: { tokensPerDay: 9 } };
    const { body } = await olga.post('/keys', key);
    const file = fileWith('teams:\n  Owners:\n    keys:\n      ci: { class: low, limits: { tokensPerDay: 9 } }\n');
    expect(await rtr('apply', '-f', file)).toEqual([
      '~ key ci of team Owners',
      '    adminSet: none → class, limits.tokensPerDay',
      '0 created, 1 changed, 0 removed; 1 as the file says.',
    ]);
    for (const change of [{ class: 'normal' }, { limits: { tokensPerDay: 10 } }]) {
      expect(await olga.patch(`/keys/${body.key.id}`, change)).toMatchObject({ status: 403 });
    }
    expect((await rtr('apply', '-f', file)).at(-1)).toMatch(/^Nothing to change: 2 /);
  });

  it('treats a rotated key as the key of its name, and skips keys of blocked people', async () => {
    const person = `people:\n  eve@${domain}:\n    keys:\n      laptop: { class: low }\n`;
    const text = `${person}teams:\n  Rotators:\n    keys:\n      ci: { class: low }\n`;
    await rtr('apply', '-f', fileWith(text));
    const { id } = await rtr.json('keys', 'list', '--owner', 'team:Rotators');
    await rtr('keys', 'rotate', id, '--overlap', '2h');
    expect((await rtr('apply', '-f', fileWith(text))).at(-1)).toMatch(/^Nothing to change/);
    const blocked = fileWith(text.replace('    keys:', '    blocked: true\n    keys:'));
    const left = `Left alone: key laptop of eve@${domain}, who is blocked.`;
    const changed = `0 created, 1 changed, 0 removed; 2 as the file says. ${left}`;
    expect((await rtr('apply', '-f', blocked)).at(-1)).toBe(changed);
    expect((await rtr('apply', '-f', blocked)).at(-1)).toMatch(
      /^Nothing to change: 3 things .* Left alone: key laptop/,
    );
    const late = fileWith('keys:\n  late2: { expiresAt: 2020-01-01 }\n');
    const expired = /Left alone: key late2 of the router, which would have expired\.$/;
    expect((await rtr('apply', '-f', late)).at(-1)).toMatch(expired);
  });

  it('accepts its own extra fields and merges', async () => {
    const text = 'x-small: &small\n  weight: 2\nteams:\n  Merged:\n    <<: *small\n    limits: { costPerDay: 1 }\n';
    await rtr('apply', '-f', fileWith(text));
    expect(await rtr.json('teams', 'show', 'Merged')).toMatchObject({ weight: 2, limits: { costPerDay: 1 } });
    const inner = fileWith('teams:\n  Merged: { x-note: hello }\n');
    await expect(rtr('apply', '-f', inner)).rejects.toThrow('teams.Merged.x-note: there is no such field');
  });

  it('names the file, the line and the field of each mistake, and changes nothing', async () => {
    const before = await everything();
    const wrong = fileWith('teams:\n  Lab:\n    limits: { costPerYear: 5 }\n    weight: heavy\nplanets: {}\n');
    const mistakes = await rtr('apply', '-f', wrong).catch((error: Error) => error.message.split('\n'));
    expect(mistakes).toEqual([
      expect.stringMatching(`^${wrong}: line 3, teams\\.Lab\\.limits\\.costPerYear: `),
      expect.stringMatching(`^${wrong}: line 4, teams\\.Lab\\.weight: `),
      `${wrong}: line 5, planets: there is no such field`,
    ]);
    const said = (text: string) => rtr('apply', '-f', fileWith(text)).catch((error: Error) => error.message);
    const stranger = /line 4, teams\.Lab\.members\.nobody@\S+: nobody has this address/;
    expect(await said(`teams:\n  Lab:\n    members:\n      nobody@${domain}: owner\n`)).toMatch(stranger);
    expect(await said('teams: [')).toMatch(/\.yaml: line \d, |\.yaml: line \d: /);
    for (const [text, sentence] of [
      ['people:\n  Ada@Example.com:\n', 'must be written as "ada@example.com"'],
      ['keys:\n  old: { expiresAt: soon }\n', 'line 2, keys.old.expiresAt: must be a date'],
      ['keys:\n  old: { expiresAt: 2030-02-31 }\n', 'keys.old.expiresAt: must be a date'],
      ['prices:\n  lab/x: { input: 1 }\n', 'prices.lab/x.output: is missing'],
      ['keys:\n  x: { class: top }\n', 'keys.x.class: must be one of high, normal, low'],
      ['keys:\n  x: { weight: heavy }\n', 'keys.x.weight: must be a number'],
      ['keys:\n  barn: { expiresAt: 2020-01-01 }\n', 'is in the past: revoke the key instead'],
    ] as const)
      expect(await said(text)).toContain(sentence);
    expect(await said('people:\n  __proto__: { role: admin }\nteams: { Lab: { keys: { __proto__: {} } } }\n')).toMatch(
      /line 2, people\.__proto__: nothing can have this name\n.*line 3, teams\.Lab\.keys\.__proto__: nothing/,
    );
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (const [name, of] of ['ba', 'cb', 'dc', 'ed', 'fe'].map((pair) => pair.split('')))
      bomb.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${of}`).join(', ')}]`);
    expect(await said(bomb.join('\n'))).toMatch(/^\S+\.yaml cannot be read: Excessive alias count[^\n]*$/);
    const endless = /^\S+\.yaml cannot be read: an alias stands for something that contains it[^\n]*$/;
    expect(await said('teams: &all\n  Lab: *all\n')).toMatch(endless);
    expect(await said(`teams: ${'['.repeat(20_000)}`)).toMatch(/^\S+\.yaml\b[^\n]*$/m);
    await expect(rtr('apply', '-f', '/nowhere.yaml')).rejects.toThrow('/nowhere.yaml cannot be used: it is not there.');
    expect(await everything()).toBe(before);
  });

  it('treats several files as one, and names both files that define the same thing', async () => {
    const one = fileWith(`teams:\n  Twin A:\npeople:\n  tom@${domain}: { name: Tom }\n`);
    const two = fileWith(`teams:\n  Twin B:\n    members: { tom@${domain}: owner }\n`);
    expect((await rtr('apply', '-f', one, '-f', two)).at(-1)).toMatch(/^4 created, 0 changed/);
    expect(await rtr('apply', '-f', two, '-f', one)).toEqual(['Nothing to change: 4 things are as the file says.']);
    const same = fileWith('teams:\n  Twin A:\n    weight: 3\n');
    await expect(rtr('apply', '-f', one, '-f', same)).rejects.toThrow(
      `teams.Twin A is named in two files, but may be in only one:\n${one}: line 2, teams.Twin A: is named here\n` +
        `${same}: line 2, teams.Twin A: is named here`,
    );
    const wrong = fileWith(`teams:\n  Twin C:\n    members: { nobody@${domain}: owner }\n`);
    await expect(rtr('apply', '-f', one, '-f', wrong)).rejects.toThrow(`${wrong}: line 3, teams.Twin C.members.nobody`);
  });

  it('lists the changes that were made and those that were not when a change is refused', async () => {
    const { id: ownerId } = await rtr.json('teams', 'create', 'Full');
    const { store } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const full = { kind: 'team', class: 'normal', ownerId } as const;
    for (let at = 0; at < 200; at += 1) await createOwnedKey(store, { ...full, name: `${at}` });
    const text = `people:\n  zoe@${domain}:\nteams:\n  Full:\n    keys:\n      more:\n      late:\n`;
    const file = fileWith(text);
    const message = await rtr('apply', '-f', file).catch((error: Error) => error.message);
    expect(message).toMatch(/^key more of team Full: .* 200 keys/);
    expect(message).toContain(`\nDone before: person zoe@${domain}.\n`);
    expect(message).toContain('Not done: key more of team Full, key late of team Full. Apply the file again');
    expect((await rtr('users', 'list')).join('\n')).toContain(`zoe@${domain}`);
  });

  it('creates everything once, however many processes apply a file at the same time', async () => {
    const file = fileWith(`people:\n  tim@${domain}:\nteams:\n  Parallel:\n    members: { tim@${domain}: owner }\n`);
    await Promise.all([1, 2, 3].map(() => rtr('apply', '-f', file)));
    const named = (await rtr('teams', 'list')).filter((line) => line.endsWith('Parallel'));
    expect(named).toHaveLength(1);
    expect((await rtr('apply', '-f', file)).at(-1)).toMatch(/^Nothing to change/);
  });

  it('applies the file of the documentation, and has nothing to change afterwards', async () => {
    const [example = ''] = codeBlocks(readFileSync('docs/admin-api.md', 'utf8'), 'yaml');
    const piped = adminCommandsOf({ ...cluster, piped: example });
    expect((await piped('apply', '-f', '-')).at(-1)).toMatch(/created/);
    expect((await piped('apply', '-f', '-')).at(-1)).toMatch(/^Nothing to change/);
    await until(async () => (await rtr('teams', 'show', 'Research')).join('\n').includes('cost-per-month=500'));
  });
});
