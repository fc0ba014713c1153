import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readAccessToken } from '#shared/accounts/sign-in/programs/access-tokens.ts';
import type { Programs } from '#shared/accounts/sign-in/programs/programs.ts';
import { RouterError } from '#shared/core/errors.ts';
import { openKeyStore } from '../../../../helpers/accounts/open-key-store.ts';
import { openPrograms } from '../../../../helpers/accounts/open-programs.ts';
import { passTime } from '../../../../helpers/pass-time.ts';
import { useForEach } from '../../../../helpers/use-for-each.ts';

const invalid = { code: 'invalid_api_key' };

const open = useForEach(openPrograms);

/** Verifies a token as a request does. */
const verify = async ({ verifier }: Pick<Programs, 'verifier'>, token: string) => verifier.verify(token);
/** Announces a change of Ada to a node. */
const announceAda = ({ verifier }: Pick<Programs, 'verifier'>) => verifier.drop(`user:${open.ada.id}`);

/** A node with a connection of its own to the store. */
async function addFarNode() {
  const store = await openKeyStore(undefined, open.prefix);
  return { store, node: open.addNode({ store }) };
}

describe('an access token', () => {
  it('stands for its person, with the limits and the weight of that person', async () => {
    await open.accounts.users.change(open.ada.id, { limits: { costPerDay: 5 }, weight: 3 }, Date.now());
    const { tokens } = await open.signIn();
    const { id: ownerId } = open.ada;
    const ada = { id: `session:${ownerId}`, kind: 'user', name: 'Ada', class: 'normal', ownerId, ownerWeight: 3 };
    const limits = [{ party: `user:${ownerId}`, limits: { costPerDay: 5 } }];
    expect(await verify(open.addNode(), tokens.accessToken)).toEqual({ ...ada, limits });
  });

  it('of a team is billed to the team, within the limits of both', async () => {
    const { users, teams } = open.accounts;
    await users.change(open.ada.id, { limits: { costPerDay: 5 } }, Date.now());
    await teams.change(open.team.id, { limits: { costPerMonth: 90 }, weight: 7 });
    const { tokens } = await open.signIn(open.team.id);
    const ofAda = { party: `user:${open.ada.id}`, limits: { costPerDay: 5 } };
    const ofTeam = { party: `team:${open.team.id}`, limits: { costPerMonth: 90 } };
    const identity = { kind: 'team', ownerId: open.team.id, limits: [ofAda, ofTeam], ownerWeight: 7 };
    expect(await verify(open.addNode(), tokens.accessToken)).toMatchObject(identity);
  });

  it('is refused when it is forged: another key, algorithm, type, issuer or audience, or a part that was changed', async () => {
    const { tokens } = await open.signIn();
    const kid = decodeProtectedHeader(tokens.accessToken).kid ?? '';
    const claims = decodeJwt(tokens.accessToken);
    const foreign = generateKeyPairSync('ed25519').privateKey;
    const signed = (header: object, by: Parameters<SignJWT['sign']>[0] = foreign) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid, ...header }).sign(by);
    const [head = '', body = '', signature = ''] = tokens.accessToken.split('.');
    const other = Buffer.from(JSON.stringify({ ...claims, sub: 'somebody' })).toString('base64url');
    const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt', kid })).toString('base64url');
    const node = open.addNode();
    for (const token of [
      await signed({}),
      await signed({ kid: 'unknown' }),
      await signed({ kid: undefined }),
      await signed({ alg: 'HS256' }, randomBytes(32)),
      `${head}.${other}.${signature}`,
      `${none}.${body}.`,
      `${head}.${body}`,
      'eyJ.eyJ.',
    ])
      await expect(verify(node, token)).rejects.toMatchObject(invalid);
    expect(await verify(node, tokens.accessToken)).toMatchObject({ ownerId: open.ada.id });
  });

  it('must be an access token of a cluster, even when the right key has signed it', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const keys = { find: async () => ({ id: 'k', createdAt: 0, privateKey, publicKey }) };
    const { tokens } = await open.signIn();
    const claims = decodeJwt(tokens.accessToken);
    const signed = (changed: object, typ = 'at+jwt') =>
      new SignJWT({ ...claims, ...changed }).setProtectedHeader({ alg: 'EdDSA', typ, kid: 'k' }).sign(privateKey);
    expect(await readAccessToken(keys, await signed({}))).toMatchObject({ sub: open.ada.id });
    for (const token of [
      await signed({}, 'JWT'),
      await signed({ iss: 'https://example.com' }),
      await signed({ aud: 'another' }),
      await signed({ exp: Math.floor(Date.now() / 1_000) - 60 }),
      await signed({ exp: undefined }),
      await signed({ sid: 7 }),
    ])
      expect(await readAccessToken(keys, token)).toBeUndefined();
  });

  it('expires after a quarter of an hour, also for a node that knows it', async () => {
    const { tokens } = await open.signIn();
    const node = open.addNode();
    await verify(node, tokens.accessToken);
    passTime(900_000 + 31_000);
    await expect(verify(node, tokens.accessToken)).rejects.toMatchObject(invalid);
    await expect(verify(open.addNode(), tokens.accessToken)).rejects.toMatchObject(invalid);
  });

  it('is verified without the store by a node that has its key and has received announcements since before it was made', async () => {
    const { store, node } = await addFarNode();
    await verify(node, (await open.signIn()).tokens.accessToken);
    store.connection.close();
    passTime(60_000);
    const { tokens } = await open.signIn();
    expect(await verify(node, tokens.accessToken)).toMatchObject({ ownerId: open.ada.id });
  });

  it('that may be older than a change counts as it is while the store is away', async () => {
    const { store, node } = await addFarNode();
    const [one, other] = [await open.signIn(), await open.signIn()];
    await verify(node, one.tokens.accessToken);
    node.verifier.drop(`program:${other.programId}`);
    store.connection.close();
    node.verifier.markStale();
    expect(await verify(node, one.tokens.accessToken)).toMatchObject({ ownerId: open.ada.id });
    await expect(verify(node, other.tokens.accessToken)).rejects.toMatchObject(invalid);
  });

  it.each(['program', 'person'])(
    'is refused a second after the store is back if its %s was signed out',
    async (who) => {
      vi.useFakeTimers({ toFake: ['performance'] });
      onTestFinished(() => void vi.useRealTimers());
      const { store, node } = await addFarNode();
      const { tokens, programId } = await open.signIn();
      await verify(node, tokens.accessToken);
      if (who === 'program') await open.programs.store.signOut(programId);
      else await open.accounts.users.endSessions(open.ada.id);
      const away = async () => Promise.reject(new RouterError('store_unavailable', 'away'));
      const reads = [vi.spyOn(node.store, 'listSignedOut'), vi.spyOn(store.accounts.users, 'find')];
      for (const read of reads) read.mockImplementation(away);
      node.verifier.markStale();
      expect(await verify(node, tokens.accessToken)).toMatchObject({ ownerId: open.ada.id });
      for (const read of reads) read.mockRestore();
      vi.advanceTimersByTime(1_000);
      await expect(verify(node, tokens.accessToken)).rejects.toMatchObject(invalid);
    },
  );

  it.each(['program', 'person'])('is refused if its %s was signed out, whatever is announced later', async (who) => {
    const node = open.addNode();
    // So that the node has received announcements since well before the token was made.
    passTime(60_000);
    const { tokens, programId } = await open.signIn();
    if (who === 'program') node.verifier.drop(`program:${programId}`);
    else {
      await open.accounts.users.endSessions(open.ada.id);
      announceAda(node);
    }
    for (let at = 0; at < 10_001; at++)
      for (const kind of ['program', 'user']) node.verifier.drop(`${kind}:other-${at}`);
    await expect(verify(node, tokens.accessToken)).rejects.toMatchObject(invalid);
  });

  it('cannot be verified by a node without its key while the store is away', async () => {
    const { store, node } = await addFarNode();
    const { tokens } = await open.signIn();
    store.connection.close();
    await expect(verify(node, tokens.accessToken)).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

it('a change of a program that is signed out ends its token on a node that gets the announcement, and on one that reads the list, as long as another may accept it', async () => {
  const [told, starting] = [open.addNode(), open.addNode()];
  const { tokens, programId } = await open.signIn();
  await verify(told, tokens.accessToken);
  await open.programs.store.signOut(programId);
  expect(await verify(told, tokens.accessToken)).toMatchObject({ ownerId: open.ada.id });
  told.verifier.drop(`program:${programId}`);
  await expect(verify(told, tokens.accessToken)).rejects.toMatchObject(invalid);
  await expect(verify(starting, tokens.accessToken)).rejects.toMatchObject(invalid);
  // It has expired, but the clocks of nodes may differ by half a minute.
  passTime(900_000 + 20_000);
  await expect(verify(open.addNode(), tokens.accessToken)).rejects.toMatchObject(invalid);
  expect(await open.programs.store.listSignedOut()).toEqual([programId]);
  passTime(11_000);
  expect(await open.programs.store.listSignedOut()).toEqual([]);
});

it('a change of a person ends or changes their tokens on a node that gets the announcement, and on one that missed it once it reconnects', async () => {
  const [told, missed] = [open.addNode(), open.addNode()];
  const { tokens } = await open.signIn();
  for (const node of [told, missed]) await verify(node, tokens.accessToken);
  const { users } = open.accounts;
  await users.change(open.ada.id, { limits: { costPerDay: 1 } }, Date.now());
  announceAda(told);
  const limits = [{ party: `user:${open.ada.id}`, limits: { costPerDay: 1 } }];
  expect(await verify(told, tokens.accessToken)).toMatchObject({ limits });
  await users.endSessions(open.ada.id);
  announceAda(told);
  await expect(verify(told, tokens.accessToken)).rejects.toMatchObject(invalid);
  expect(await verify(missed, tokens.accessToken)).toMatchObject({ limits: [] });
  missed.verifier.markStale();
  await expect(verify(missed, tokens.accessToken)).rejects.toMatchObject(invalid);
});

it('a change of a team ends the tokens of those who left it', async () => {
  const node = open.addNode();
  const { tokens } = await open.signIn(open.team.id);
  await verify(node, tokens.accessToken);
  await open.accounts.teams.removeMember(open.team.id, open.ada.id);
  announceAda(node);
  await expect(verify(node, tokens.accessToken)).rejects.toMatchObject(invalid);
});

it('a change of a person while their token is verified counts', async () => {
  const { tokens } = await open.signIn();
  const node = open.addNode();
  const verifying = verify(node, tokens.accessToken);
  await open.accounts.users.endSessions(open.ada.id);
  announceAda(node);
  await expect(verifying).rejects.toMatchObject(invalid);
});
