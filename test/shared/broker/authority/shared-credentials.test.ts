import { readFileSync } from 'node:fs';
import { createAccount, createUser, encodeUser } from '@nats-io/jwt';
import { connect, jwtAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseCredential } from '#shared/broker/connection/credential.ts';
import { createSubjects } from '#shared/broker/contract/subjects.ts';
import { least } from '../../../helpers/least.ts';
import { startSecuredNats } from '../../../helpers/servers/start-secured-nats.ts';
import { until } from '../../../helpers/until.ts';
import { useStarted } from '../../../helpers/use-started.ts';

/*
 * What the holder of a shared credential can do with its signing key. What each of its users may do is tried in permissions.test.ts.
 */

const nats = useStarted(() => startSecuredNats({ prefix: 'rtr' }));

interface Signed {
  /** The user's name. Default: that of the credential. */
  name?: string;
  user?: ReturnType<typeof createUser>;
  /** The key with which the connection proves to be the user. Default: the user's own. */
  proof?: ReturnType<typeof createUser>;
  /** The key that signs the user. Default: the credential. */
  signer?: ReturnType<typeof createAccount>;
}

/** Connects as a user that the holder of the credential of the gpu workers has signed by hand, with these permissions in its token. */
async function connectSigned(permissions: object, how: Signed = {}): Promise<NatsConnection> {
  const { account, seed, name } = parseCredential(readFileSync(nats.files.gpu, 'utf8'));
  const { user = createUser(), proof = user, signer = seed } = how;
  const token = await encodeUser(how.name ?? name, user, account, permissions, { signer, scopedUser: true });
  const authenticator = jwtAuthenticator(token, proof.getSeed());
  const nc = await connect({ port: nats.port, authenticator, reconnect: false });
  onTestFinished(() => nc.close());
  return nc;
}

describe('the holder of a shared credential', () => {
  it('signs users without permissions, which get those of its scope', async () => {
    const nc = await connectSigned({});
    await nc.flush();
    expect(nc.isClosed()).toBe(false);
  });

  it.each([
    ['with all subjects', { pub: { allow: ['>'] }, sub: { allow: ['>'] } }],
    ['with the inboxes of all its processes', { sub: { allow: ['rtr.inbox.gpu.gpu.>'] } }],
    ['with more subscriptions', { subs: 1_000 }],
    ['for leaf nodes', { allowed_connection_types: ['LEAFNODE'] }],
    ['that needs no key', { bearer_token: true }],
  ])('cannot widen its scope: a user %s is refused', async (_, permissions) => {
    await expect(connectSigned(permissions)).rejects.toThrow(/authorization violation/i);
  });

  it.each([
    ['without its key', {}],
    ['as one that needs no key', { bearer_token: true }],
  ])('cannot be the user of another process %s', async (_, permissions) => {
    await expect(connectSigned(permissions, { proof: createUser() })).rejects.toThrow(/authorization violation/i);
  });

  it('cannot sign with a key that the servers do not know', async () => {
    await expect(connectSigned({}, { signer: createAccount() })).rejects.toThrow(/authorization violation/i);
  });

  it('gains nothing by a wildcard as the name of a user', async () => {
    const { key } = await nats.connectWith(nats.files.gpu);
    const nc = await connectSigned({}, { name: '*' });
    const refused: string[] = [];
    for (const process of [key, '*']) {
      const inbox = createSubjects('rtr').inbox({ tier: 'gpu', credentialName: 'gpu', worker: '*', process });
      nc.subscribe(`${inbox}.>`, { callback: (error) => void (error && refused.push(error.name)) });
    }
    await until(() => expect(refused).toEqual(['PermissionViolationError', 'PermissionViolationError']));
  });
});

describe('a shared credential', () => {
  it('is accepted once the servers have read the configuration that names it, which disconnects nobody', async () => {
    const others = await Promise.all([nats.files.gpu, nats.files.ingress].map((file) => nats.connectWith(file)));
    const file = await nats.issue({ role: 'gpu', name: 'late', shared: true });
    await expect(nats.connectWith(file)).rejects.toThrow(/authorization violation/i);
    nats.reload();
    await until(() =>
      nats.connectWith(file).then(
        () => true,
        () => false,
      ),
    );
    for (const { nc, disconnects } of others) {
      await nc.flush();
      expect(disconnects).toEqual([]);
    }
  });

  it('that is revoked ends within a second, with all users that it has signed, and disconnects nobody else', async () => {
    const other = await nats.connectWith(nats.files.gpu);
    let round = 0;
    const revokeOnce = async (): Promise<number> => {
      const name = `leaked-${(round += 1)}`;
      const file = await nats.issue({ role: 'gpu', name, shared: true });
      nats.reload();
      await until(() =>
        nats.connectWith(file).then(
          () => true,
          () => false,
        ),
      );
      const users = await Promise.all([0, 1, 2].map(() => nats.connectWith(file)));
      await nats.revoke(name);
      const revokedAt = performance.now();
      await until(() => users.every(({ disconnects }) => disconnects.length > 0));
      await expect(nats.connectWith(file)).rejects.toThrow(/authorization violation/i);
      return Math.max(...users.flatMap(({ disconnects }) => disconnects[0] ?? Infinity)) - revokedAt;
    };
    expect(await least(revokeOnce, 1_000)).toBeLessThan(1_000);
    await other.nc.flush();
    expect(other.disconnects).toEqual([]);
  });

  it('cannot expire, because it could sign users for a later time', async () => {
    const issued = nats.issue({ role: 'gpu', name: 'brief', shared: true, validMs: 60_000 });
    await expect(issued).rejects.toThrow('a shared credential cannot expire');
  });
});
