import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { useScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { rtrProgram } from '../../helpers/rtr/rtr-program.ts';

/** Operations of people on their own account, which are not in the Admin API because they need the person. */
const ownAccount: Record<string, string> = {
  'POST /session': 'signing in',
  'POST /session/second': 'signing in with a second factor',
  'POST /session/second/passkey': 'signing in with a second factor',
  'DELETE /session': 'signing out',
  'DELETE /sessions': 'signing out everywhere',
  'DELETE /sessions/:id': "ending a session of one's own; those of others have `users end-session`",
  'POST /links/:token': 'taking up an invitation, or setting a password: the link is the permission',
  'POST /password': 'the current password is asked for',
  'PATCH /account': "one's own name; those of others have `users rename`",
  'POST /account/email': "one's own address, for which the password is asked for",
  'DELETE /account': "one's own account, for which the password is asked for",
  'POST /second-factor/app': "one's own second factor",
  'POST /second-factor/app/confirm': "one's own second factor",
  'DELETE /second-factor/app': "one's own second factor; those of others have `users reset-second-factor`",
  'POST /second-factor/passkeys/options': "one's own second factor, on this device",
  'POST /second-factor/passkeys': "one's own second factor, on this device",
  'DELETE /second-factor/passkeys/:id': "one's own second factor",
  'POST /second-factor/recovery-codes': "one's own second factor",
  'ALL /oidc/:name/start': 'refusing what is not GET',
  'ALL /oidc/:name/callback': 'refusing what is not GET',
  'POST /devices/:code': 'approving a program that signs in as oneself',
  'POST /devices/:code/find': 'seeing what one is about to approve',
  'DELETE /programs/:id': "signing out a program of one's own; `users sign-out` ends those of others",
  'POST /connections': 'connecting oneself to an MCP server, in the browser',
  'POST /connections/:server': 'connecting oneself to an MCP server, in the browser',
  'DELETE /connections/:server': "ending a connection of one's own",
};

const cluster = useScriptedCluster();

interface Document {
  paths: Record<string, Record<string, { operationId: string; description: string }>>;
}

describe('every operation of the console', () => {
  it('has a command of rtr that does the same', async () => {
    const answer = await fetch(`${cluster.url}/api/admin/v1/openapi.json`);
    const { paths } = (await answer.json()) as Document;
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    expect(operations.length).toBeGreaterThan(60);
    const program = await rtrProgram();
    const missing = operations.filter(({ description }) => {
      const [, words = ''] = /On the command line: `rtr ([^`]+)`/.exec(description) ?? [];
      let command: typeof program | undefined = program;
      for (const word of words.split(' ')) command = command?.commands.find((each) => each.name() === word);
      return command === undefined || command.commands.length > 0;
    });
    expect(missing.map(({ operationId, description }) => [operationId, description])).toEqual([]);
  });

  it("is declared as an operation, unless it belongs to people's own accounts", () => {
    // These files route the operations themselves.
    const isGeneric = (file: string): boolean => /\/(mount-operations|if-match)\.ts$/.test(file);
    const files = globSync('services/console/api/**/*.ts').filter((file) => !isGeneric(file));
    const changes = files.flatMap((file) => changesIn(readFileSync(file, 'utf8')));
    expect(changes.toSorted()).toEqual(Object.keys(ownAccount).toSorted());
  });
});

/** Returns the routes of a file that change something, as `POST /session`. Fails for a route whose path it cannot read. */
function changesIn(source: string): string[] {
  if (!/from 'express'/.test(source)) return [];
  return [...source.matchAll(/\broutes\s*(?:\.(post|put|patch|delete|all|route)\(\s*(?:'([^']+)')?|\[)/g)].map(
    ([whole, method, path]) => (method && path ? `${method.toUpperCase()} ${path}` : `unreadable: ${whole}`),
  );
}
