import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, inject, it } from 'vitest';
import { useScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { runCommand } from '../../helpers/processes/run-command.ts';
import { compileCache } from '../../helpers/processes/start-process.ts';
import { adminCommandsOf } from '../../helpers/rtr/admin-commands.ts';
import { serveInTest } from '../../helpers/servers/serve-http.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { useFolder } from '../../helpers/files/temporary-folder.ts';

const folder = useFolder();
const [ada, farm, first, second] = ['ada', 'farm', 'first', 'second'].map((name) => uniqueName(name).toLowerCase());
const email = `${ada}@example.com`;

const cluster = useScriptedCluster();
const rtr = adminCommandsOf(cluster);
beforeAll(() => rtr('users', 'create', email, '--role', 'admin'));

function fileWith(text: string): string {
  const path = join(folder, `${Math.random().toString(36).slice(2)}.yaml`);
  writeFileSync(path, text);
  return path;
}

it('apply names teams that are one to the router before anything is changed', async () => {
  await rtr('teams', 'create', 'Folded');
  const before = await rtr('audit', 'list', '--json');
  const people = 'people:\n  folded@example.com: { name: Fold }\n';
  const existing = fileWith(`${people}teams:\n  FOLDED: { weight: 2 }\n`);
  await expect(rtr('apply', '-f', existing)).rejects.toThrow(/line 4, teams\.FOLDED: .* same name as Folded, a team/);
  const one = fileWith(`${people}teams:\n  New: { weight: 2 }\n`);
  const other = fileWith('teams:\n  nEW: { weight: 3 }\n');
  const same = `${other}: line 2, teams.nEW: counts as the same name`;
  await expect(rtr('apply', '-f', one, '-f', other)).rejects.toThrow(same);
  expect(await rtr('audit', 'list', '--json')).toEqual(before);
  await rtr('apply', '-f', fileWith('teams:\n  Folded: { weight: 2 }\n'));
});

/** Returns access to the cluster with a hook that runs before each request. */
function wayWith(before: (method: string, path: string) => Promise<void>): Promise<string> {
  return serveInTest(async (request, response) => {
    const { method = '', url = '' } = request;
    const sent = await buffer(request);
    await before(method, url);
    const { authorization = '', 'if-match': ifMatch } = request.headers;
    const condition = ifMatch === undefined ? {} : { 'if-match': ifMatch };
    const headers = { authorization, 'content-type': 'application/json', ...condition };
    const answer = await fetch(`${cluster.url}${url}`, { method, headers, ...(sent.length > 0 && { body: sent }) });
    const etag = answer.headers.get('etag');
    response.writeHead(answer.status, { ...(etag !== null && { etag }), 'content-type': 'application/json' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
}

it('apply overwrites nothing that another client has changed since the plan was made', async () => {
  await rtr('teams', 'create', 'Lab');
  const { id: keyId } = (await rtr.json('keys', 'create', '--name', String(farm))).key;
  const changes: [text: string, path: RegExp, subject: string, id?: string][] = [
    [`people:\n  ${email}: { weight: 3 }\n`, /^\/api\/admin\/v1\/users\/\w+$/, 'users', email],
    ['teams:\n  Lab: { weight: 3 }\n', /\/teams\/\w+$/, 'teams', 'Lab'],
    [`keys:\n  ${farm}: { weight: 3 }\n`, /\/keys\/\w+$/, 'keys', keyId],
    ['settings: { auditDays: 40 }\n', /\/settings$/, 'settings'],
  ];
  for (const [text, path, what, id] of changes) {
    const other = id === undefined ? [what, 'set', '--audit-days', '70'] : [what, 'set', id, '--weight', '7'];
    // Before the first change is sent, or before the object is read again: the plan reads settings, too.
    let reads = id === undefined ? 0 : 1;
    const url = await wayWith(async (method, asked) => {
      if (method === 'GET' && path.test(asked)) reads += 1;
      if (reads === 2) {
        reads += 1;
        await rtr(...other);
      }
    });
    const applied = adminCommandsOf({ ...cluster, url })('apply', '-f', fileWith(text));
    await expect(applied, what).rejects.toThrow(/has been changed by somebody else since the plan was made\.\nDone/);
    const kept = id === undefined ? { auditDays: 70 } : { weight: 7 };
    expect(await rtr.json(what, 'show', ...(id === undefined ? [] : [id])), what).toMatchObject(kept);
  }
});

it('apply finishes the current change when it is interrupted, keeps its secret, and lists the remaining changes', async () => {
  const url = await wayWith(async (method, path) => {
    if (method !== 'PUT' || !path.includes(`keys-by-name/${first}`)) return;
    command.child.kill('SIGINT');
    // The answer must come after the signal.
    await sleep(1_000);
  });
  const file = fileWith(`keys:\n  ${first}:\n  ${second}:\n`);
  const store = { RTR_PREFIX: cluster.prefix, REDIS_URL: inject('redisUrl') };
  const options = { cwd: process.cwd(), env: { NODE_COMPILE_CACHE: compileCache, RTR_URL: url, ...store } };
  const command = runCommand(process.execPath, ['services/rtr/main.ts', 'apply', '-f', file], options);
  expect(await command.ended).toBe(1);
  expect(command.out).toMatch(new RegExp(`key ${first} of the router, shown only this once: rtr_\\w+\n$`));
  expect(command.err).toBe(
    `Interrupted.\nDone before: key ${first} of the router.\n` +
      `Not done: key ${second} of the router. Apply the file again to do the rest.\n`,
  );
  const names = (await rtr('keys', 'list', '--json')).map((line) => (JSON.parse(line) as { name: string }).name);
  expect(names).toContain(first);
  expect(names).not.toContain(second);
});

it('apply reports before any change that the token lacks the permission', async () => {
  const { raw } = await rtr.json('tokens', 'create', '--name', 'reader', '--scopes', 'read');
  const reader = adminCommandsOf({ ...cluster, token: raw });
  expect((await reader('tokens', 'current')).join('\n')).toMatch(/^scopes +read$[^]*^role +admin$/m);
  const file = fileWith('teams:\n  Never:\n');
  const sentence = 'The admin token may not make these changes: they need the scope admin, and it has read.';
  expect(await reader.whole('apply', '-f', file, '--dry-run')).toMatchObject({
    code: 2,
    lines: ['+ team Never', sentence, '1 to create, 0 to change, 0 to remove; 0 as the file says.'],
  });
  await expect(reader('apply', '-f', file)).rejects.toThrow(sentence);
  const { raw: ofKeys } = await rtr.json('tokens', 'create', '--name', 'keys', '--scopes', 'keys');
  await adminCommandsOf({ ...cluster, token: ofKeys })('apply', '-f', fileWith('keys:\n  mine:\n'));
});
