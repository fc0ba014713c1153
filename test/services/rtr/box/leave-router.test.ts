import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fromPublic } from '@nats-io/jwt';
import { describe, expect, it } from 'vitest';
import { writeBoxState } from '#services/rtr/box/box-state.ts';
import { leaveRouter } from '#services/rtr/box/leave-router.ts';
import { createUserKey } from '#shared/broker/connection/user-key.ts';
import { answerJson, createSecret, startDoor } from '../../../helpers/box/start-door.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';

/** Lets a box leave a router that answers with a status. */
async function leave(status: number) {
  const { address, requests } = await startDoor((_, response) => answerJson(response, status, {}));
  const data = temporaryFolder();
  const [folder, app] = [join(data, 'box'), join(data, 'app')];
  mkdirSync(app);
  const key = createUserKey();
  const credentials = { gpu: 'a.b.c' };
  const joined = { address, invitation: createSecret(), key, name: 'joes-box', credentials, broker: '/nats' };
  writeBoxState(folder, { v: 1, joined });
  const sentences = await leaveRouter([folder, app]);
  expect([existsSync(folder), existsSync(app)]).toEqual([false, false]);
  return { address, requests, key, sentences };
}

describe('a box that leaves', () => {
  it('proves to the router with its key that it is the box, and deletes what it kept', async () => {
    const { address, requests, key, sentences } = await leave(204);
    expect(sentences).toEqual([`joes-box has left ${address}.`]);
    const [{ path, body } = { path: '', body: {} }] = requests;
    expect([path, body['v'], body['name']]).toEqual(['/api/leave', 1, 'joes-box']);
    const signed = new TextEncoder().encode(JSON.stringify({ name: 'joes-box', time: body['time'] }));
    const signature = Buffer.from(String(body['signature']), 'base64url');
    expect(fromPublic(key.publicKey).verify(signed, signature)).toBe(true);
  });

  it('has left already if it was revoked', async () => {
    expect((await leave(401)).sentences).toEqual([expect.stringMatching(/^joes-box has left /)]);
  });

  it('says that an administrator can revoke it if the router does not', async () => {
    expect((await leave(404)).sentences).toEqual([
      expect.stringMatching(/has forgotten joes-box.*status 404/),
      expect.stringMatching(/administrator .* can revoke joes-box/),
    ]);
  });

  it('has nothing to do if it has not joined', async () => {
    expect(await leaveRouter([join(temporaryFolder(), 'box')])).toEqual([expect.stringMatching(/nothing to leave/)]);
  });
});
