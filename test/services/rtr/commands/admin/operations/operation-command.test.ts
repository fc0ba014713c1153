import { Readable, Writable } from 'node:stream';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { describeOperations } from '#services/console/api/create-operations.ts';
import { addAdminCommands } from '#services/rtr/commands/admin/admin-commands.ts';
import { AdminClient } from '#services/rtr/commands/admin/admin-client.ts';
import { useShortHelp } from '#services/rtr/commands/short-help.ts';
import { serveInTest } from '../../../../../helpers/servers/serve-http.ts';

interface Sent {
  method: string | undefined;
  path: string | undefined;
  body: unknown;
  ifMatch: string | undefined;
}

/** Runs a command on a router with these answers by path, and returns what it sent and printed. */
async function run(words: readonly string[], answers: Readonly<Record<string, object>> = {}) {
  const [sent, lines, hints]: [Sent[], string[], string[]] = [[], [], []];
  const url = await serveInTest(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    const path = request.url?.replace('/api/admin/v1', '');
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    sent.push({ method: request.method, path, body, ifMatch: request.headers['if-match'] });
    response.setHeader('etag', '"7"').end(JSON.stringify(answers[path?.split('?')[0] ?? ''] ?? {}));
  });
  const client = new AdminClient({ url, token: () => Promise.resolve('t'), unknownTokenMessage: '' });
  const output = new Writable({ write: (_piece, _, done) => done() });
  const print = (line: string): void => void lines.push(line);
  const hint = (line: string): void => void hints.push(line);
  const others = { client, print, hint, input: Readable.from([]), output, setExitCode: () => undefined };
  const program = commandsOf(async (options, command) => {
    await command({ ...others, json: options.json ?? false });
  });
  await program.parseAsync(words, { from: 'user' });
  return { sent, lines, hints };
}

function commandsOf(runCommand: Parameters<typeof addAdminCommands>[2]): Command {
  const program = new Command('rtr');
  addAdminCommands(program, describeOperations(), runCommand);
  const silence = (command: Command): void => {
    command.exitOverride().configureOutput({ writeErr: () => undefined });
    for (const each of command.commands) silence(each);
  };
  silence(program);
  return program;
}

describe('a command that is made of an operation', () => {
  it('sends arguments and options as the fields of the body', async () => {
    const words = 'keys create --name ci --models a,b --class low --limit cost-per-day=5 --limit tokensPerDay=9';
    const { sent } = await run(words.split(' '));
    const limits = { costPerDay: 5, tokensPerDay: 9 };
    const body = { name: 'ci', class: 'low', models: ['a', 'b'], limits, kind: 'router' };
    expect(sent).toEqual([{ method: 'POST', path: '/keys', body, ifMatch: undefined }]);
  });

  it('prints the line of an invitation alone, and what else is to know on the standard error', async () => {
    const answer = { invitation: { expiresAt: Date.UTC(2026, 0, 2) }, command: 'npx x join y#z', note: 'Beware.' };
    const words = 'invite worker --tier gpu,cli --tier tools --name joes-box --expires 90m';
    const { sent, lines, hints } = await run(words.split(' '), { '/box-invitations': answer });
    const body = { tiers: ['gpu', 'cli', 'tools'], name: 'joes-box', expiresInMinutes: 90 };
    expect(sent).toEqual([{ method: 'POST', path: '/box-invitations', body, ifMatch: undefined }]);
    expect(lines).toEqual(['npx x join y#z']);
    const hint = 'Run this line on the machine that joins, once, before 2026-01-02 00:00.';
    expect(hints).toEqual([`${hint} Beware.`]);
    const plain = await run(['invite', 'worker', '--expires', '7d'], {
      '/box-invitations': { ...answer, note: undefined },
    });
    expect(plain.hints).toEqual([hint]);
    expect(plain.sent[0]?.body).toEqual({ tiers: ['gpu'], expiresInMinutes: 10_080 });
    const json = await run(['invite', 'worker', '--json'], { '/box-invitations': answer });
    expect([json.lines.map((line) => JSON.parse(line)), json.hints]).toEqual([[answer], []]);
    await expect(run(['invite', 'worker', '--expires', 'soon'])).rejects.toThrow('such as 30m, 12h or 7d');
  });

  it('withdraws an invitation of a machine by its id or the name of the machine', async () => {
    const data = [
      { id: 'a', name: 'joe' },
      { id: 'b', name: 'jane', box: 'jane-2' },
      { id: 'c', name: 'jane', box: 'jane' },
    ];
    const withdraw = async (text: string) => {
      const { sent, lines } = await run(['invite', 'delete', text], { '/box-invitations': { data } });
      return [sent.at(-1)?.method, sent.at(-1)?.path, ...lines];
    };
    expect(await withdraw('joe')).toEqual(['DELETE', '/box-invitations/a', 'The invitation joe is withdrawn.']);
    expect(await withdraw('jane-2')).toEqual(['DELETE', '/box-invitations/b', 'The invitation jane-2 is withdrawn.']);
    await expect(withdraw('jane')).rejects.toThrow('Use the id of one of them: b, c');
    await expect(withdraw('x')).rejects.toThrow('There is no open invitation x');
  });

  it('completes objects of which it changes some fields, and names their revision', async () => {
    const current = { limits: { costPerDay: 5, tokensPerDay: 9 }, ceiling: { models: ['a'], maxClass: 'low' } };
    const words = 'users set u1 --limit cost-per-day=none --ceiling-models none --ceiling-tiers gpu';
    const { sent } = await run(words.split(' '), { '/users/u1': current });
    const body = { limits: { tokensPerDay: 9 }, ceiling: { tiers: ['gpu'], maxClass: 'low' } };
    expect(sent.map(({ method }) => method)).toEqual(['GET', 'PATCH']);
    expect(sent[1]).toMatchObject({ path: '/users/u1', body, ifMatch: '"7"' });
  });

  it('reads nothing before a change that is whole, and removes a restriction with none', async () => {
    const { sent } = await run([
      'keys',
      'set',
      '0123456789ab',
      '--models',
      'none',
      '--expires',
      'none',
      '--no-records',
    ]);
    const body = { models: null, expiresAt: null, records: false };
    expect(sent).toEqual([{ method: 'PATCH', path: '/keys/0123456789ab', body, ifMatch: undefined }]);
  });

  it('refuses a change of nothing, and a value that the schema does not have, before it sends anything', async () => {
    await expect(run(['teams', 'set', 't1', '--weight', '101'])).rejects.toThrow('whole number from 1 to 100');
    await expect(run(['users', 'set', 'u1', '--role', 'king'])).rejects.toThrow('Allowed choices are admin, member.');
    await expect(run(['settings', 'set'])).rejects.toThrow('Name what to change with an option');
  });

  it('finds what names refer to', async () => {
    const answers = {
      '/users': { data: [{ id: 'u1', email: 'ada@example.com', emailConfirmed: true }] },
      '/teams': { data: [{ id: 't1', name: 'Blue' }] },
    };
    const { sent } = await run(['usage', 'report', '--user', 'ada@example.com', '--team', 'Blue'], answers);
    expect(sent.at(-1)?.path).toMatch(/^\/usage\?from=\d+&to=\d+&step=day&by=model&team=t1&user=u1$/);
    const owned = await run(['recordings', 'list', '--owner', 'team:Blue'], {
      ...answers,
      '/recordings': { data: [] },
    });
    expect(owned.sent.at(-1)?.path).toBe('/recordings?owner=team%3At1&limit=50');
    expect(owned.lines).toEqual(['There are no recorded requests.']);
  });

  it('reads as many pages as it needs, in each form that pages have', async () => {
    const page = { requests: Array.from({ length: 200 }, (_, id) => ({ id: String(id) })), next: '9-9' };
    const { sent, lines } = await run(['usage', 'requests', '--limit', '300', '--json'], { '/usage/requests': page });
    expect(sent.map(({ path }) => path)).toEqual(['/usage/requests?limit=200', '/usage/requests?limit=100&before=9-9']);
    expect(lines.length).toBe(400);
  });

  it('prints times, lists and nested values for people, and the answer as it is with --json', async () => {
    const team = {
      id: 't1',
      name: 'Blue',
      limits: { costPerDay: 5 },
      createdAt: 0,
      members: [{ id: 'u1', role: 'owner' }],
    };
    const answers = { '/teams': { data: [team] } };
    const facts = ['id       t1', 'name     Blue', 'limits   cost-per-day=5', 'created  1970-01-01 00:00'];
    const found = { ...answers, '/teams/t1': team };
    const { lines } = await run(['teams', 'show', 'Blue'], found);
    expect(lines).toEqual([...facts, '', 'members:', 'ID  NAME  EMAIL  ROLE', 'u1  -     -      owner']);
    expect((await run(['teams', 'show', 'Blue', '--json'], found)).lines).toEqual([JSON.stringify(team)]);
    expect((await run(['teams', 'delete', 'Blue'], found)).lines).toEqual([
      'Team Blue is deleted, and its keys are revoked.',
    ]);
  });

  it('has a help of a sentence, its usage, its flags and an example', () => {
    const program = commandsOf(() => Promise.resolve());
    useShortHelp(program);
    const command = program.commands
      .find((each) => each.name() === 'keys')
      ?.commands.find((each) => each.name() === 'create');
    const help = command?.helpInformation() ?? '';
    expect(help).toMatch(/^Makes a key\. [^]*\n\nUSAGE\n {2}rtr keys create \[flags\]\n\nFLAGS\n {2}--name <name> /);
    expect(help).toMatch(/--expires <time>\s+The time from which the key is refused; a date,\s+a\s+time/);
  });
});
