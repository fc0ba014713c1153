import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { readBoxState, toBrokerUrl, writeCredentialFiles } from '#services/rtr/box/box-state.ts';
import { joinRouter } from '#services/rtr/box/join-router.ts';
import {
  answerJson,
  createSecret,
  makeSelfSigned,
  startDoor,
  type JoinRequest,
} from '../../../helpers/box/start-door.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { temporaryFolder, useFolder } from '../../../helpers/files/temporary-folder.ts';

const certificates = useFolder();
const admission = { v: 1, name: 'joes-box', credentials: { gpu: 'a.b.c', future: 'd.e.f' }, broker: '/nats' };

let folder: string;
let said: string[];
let warned: string[];

beforeEach(() => {
  folder = join(temporaryFolder(), 'box');
  [said, warned] = [[], []];
});

function run(line?: string) {
  const say = (text: string) => void said.push(text);
  const warn = (text: string) => void warned.push(text);
  return joinRouter({ line, folder, host: 'joes-laptop', say, warn });
}

const keyOf = ({ body }: JoinRequest) => body['key'];

describe('a box that joins', () => {
  it('sends the secret and its public key, and keeps its secret key in a folder of its own', async () => {
    const secret = createSecret();
    const { address, requests } = await startDoor((_, response) => answerJson(response, 200, admission));
    const box = await run(`${address}#${secret}`);
    expect(requests).toEqual([
      { path: '/api/join', body: { v: 1, token: secret, key: box.key.publicKey, host: 'joes-laptop' } },
    ]);
    expect(box).toMatchObject({ name: 'joes-box', credentials: { gpu: 'a.b.c' } });
    expect(JSON.stringify(requests)).not.toContain(box.key.seed);
    expect(readFileSync(join(folder, 'box.json'), 'utf8')).not.toContain(secret);
    writeCredentialFiles(folder, box);
    expect(readdirSync(folder).toSorted()).toEqual(['box.json', 'gpu.creds']);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder).map((file) => statSync(join(folder, file)).mode & 0o777)).toEqual([0o600, 0o600]);
    expect([said, warned]).toEqual([[`${address} has accepted this machine as joes-box.`], []]);
  });

  it('continues with what it has, without a line or with the same one', async () => {
    const { address, requests } = await startDoor((_, response) => answerJson(response, 200, admission));
    const line = `${address}#${createSecret()}`;
    const box = await run(line);
    expect(await run()).toEqual(box);
    expect(await run(line)).toEqual(box);
    expect(requests).toHaveLength(1);
  });

  it('repeats an exchange whose answer was lost with the same key', async () => {
    let isLost = true;
    const { address, requests } = await startDoor((_, response) => {
      if (isLost) response.destroy();
      else answerJson(response, 200, admission);
    });
    const line = `${address}#${createSecret()}`;
    await expect(run(line)).rejects.toThrow(errorWith('unreachable'));
    await expect(run()).rejects.toThrow(/was not finished.*same line/);
    isLost = false;
    const box = await run(line);
    expect(requests.map(keyOf)).toEqual([box.key.publicKey, box.key.publicKey]);
    expect(readBoxState(folder).pending).toBeUndefined();
  });

  it('is replaced by a new line of the same router, with a new key, and stays what it was if that is refused', async () => {
    let isRefused = true;
    const { address, requests } = await startDoor((_, response) => {
      if (requests.length === 2 && isRefused)
        answerJson(response, 401, { error: { code: 'invitation_expired', message: 'expired' } });
      else answerJson(response, 200, { ...admission, name: `box-${requests.length}` });
    });
    const first = await run(`${address}#${createSecret()}`);
    const line = `${address}#${createSecret()}`;
    await expect(run(line)).rejects.toThrow('This invitation has expired');
    expect(await run()).toEqual(first);
    isRefused = false;
    expect(await run(line)).toMatchObject({ name: 'box-3' });
    expect(new Set(requests.map(keyOf)).size).toBe(2);
    expect(said.at(-1)).toMatch(/accepted this machine anew, as box-3.*box-1.*revoked/);
  });

  it('of another router must leave first', async () => {
    const answer: Parameters<typeof startDoor>[0] = (_, response) => answerJson(response, 200, admission);
    const [one, other] = [await startDoor(answer), await startDoor(answer)];
    await run(`${one.address}#${createSecret()}`);
    await expect(run(`${other.address}#${createSecret()}`)).rejects.toThrow(errorWith('joined_elsewhere'));
    expect(other.requests).toEqual([]);
  });

  it('says what to do if it has not joined, or its state is damaged', async () => {
    await expect(run()).rejects.toThrow(/no box yet.*rtr invite worker/);
    const { address } = await startDoor((_, response) => answerJson(response, 200, admission));
    await run(`${address}#${createSecret()}`);
    writeFileSync(join(folder, 'box.json'), '{"v":');
    await expect(run()).rejects.toThrow(/damaged.*rtr leave/);
  });
});

describe('a router with a certificate of its own', { tags: ['openssl'] }, () => {
  it('is trusted by the fingerprint, and its certificate goes into the credential', async () => {
    const tls = makeSelfSigned(certificates);
    const { address } = await startDoor((_, response) => answerJson(response, 200, admission), tls);
    const box = await run(`${address}#${createSecret()}.${tls.fingerprint}`);
    const { gpu = '' } = writeCredentialFiles(folder, box);
    expect(readFileSync(gpu, 'utf8')).toContain(tls.cert.trim());
    expect(toBrokerUrl(box)).toBe(`${address.replace('https:', 'wss:')}/nats`);
  });

  it('is sent nothing if the fingerprint differs, or there is none', async () => {
    const tls = makeSelfSigned(certificates);
    const { address, requests } = await startDoor((_, response) => answerJson(response, 200, admission), tls);
    const { fingerprint } = makeSelfSigned(certificates);
    const changed = run(`${address}#${createSecret()}.${fingerprint}`);
    await expect(changed).rejects.toThrow(errorWith('certificate_changed'));
    await expect(changed).rejects.toThrow(/nothing was sent/);
    await expect(run(`${address}#${createSecret()}`)).rejects.toThrow(/not trusted.*names no fingerprint/);
    expect(requests).toEqual([]);
  });

  it('is sent nothing without TLS', async () => {
    const { address, requests } = await startDoor((_, response) => answerJson(response, 200, admission));
    await expect(run(`${address}#${createSecret()}.${createSecret()}`)).rejects.toThrow(
      errorWith('certificate_changed'),
    );
    expect(requests).toEqual([]);
  });
});

describe('a refusal', () => {
  it.each([
    [401, { error: { code: 'invitation_unknown', message: '' } }, /does not know this invitation.*rtr invite worker/],
    [401, { error: { code: 'invitation_expired', message: '' } }, /has expired.*rtr invite worker/],
    [409, { error: { code: 'invitation_used', message: '' } }, /Another box has used.*rtr invite worker/],
    [404, { error: { code: 'not_found', message: '' } }, /of a release that boxes cannot join/],
    [429, { error: { code: 'rate_limited', message: 'too\u001B[31m many' } }, /refuses: too\[31m many \(429/],
    [502, {}, /cannot answer now/],
    [200, { hello: 'world' }, /is not a router/],
  ])('with status %i and %j says what to do', async (status, body, sentence) => {
    const { address } = await startDoor((_, response) => answerJson(response, status, body));
    await expect(run(`${address}#${createSecret()}`)).rejects.toThrow(sentence);
  });

  it('of a web page says that there is no router', async () => {
    const { address } = await startDoor((_, response) =>
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>'),
    );
    await expect(run(`${address}#${createSecret()}`)).rejects.toThrow(/is not a router \(status 404\)/);
  });

  it('of the connection says what to check', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    await expect(run(`http://127.0.0.1:${port}#${createSecret()}`)).rejects.toThrow(/cannot be reached.*firewall/);
  });
});

it('a box that joins over an unencrypted network is warned', async () => {
  const { address } = await startDoor((_, response) => answerJson(response, 200, admission));
  await run(`${address.replace('127.0.0.1', '0.0.0.0')}#${createSecret()}`);
  expect(warned).toEqual([expect.stringMatching(/is encrypted.*trust/)]);
});
