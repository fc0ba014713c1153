import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { createAuthority, type Authority } from '#shared/broker/authority/authority.ts';
import { changeAuthority, writeAuthority } from '#shared/broker/authority/authority-folder.ts';
import { issueCredential, type CredentialRequest, revokeCredentials } from '#shared/broker/authority/credentials.ts';
import { buildConnectionOptions } from '#shared/broker/connection/connection-options.ts';
import { parseCredential, roles, signOwnUser, type Role } from '#shared/broker/connection/credential.ts';
import { tiers } from '#shared/core/tier.ts';
import { ensureServers } from '#services/rtr/up/servers/install-server.ts';
import { queryPort } from '#services/rtr/up/servers/query-port.ts';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { spawnGuarded, stopChild } from '#services/rtr/up/children/child.ts';
import { until } from '../until.ts';

export interface SecuredNatsOptions {
  prefix: string;
  /** Certificates that go into each credential. */
  ca?: string;
  /** Address to listen on. Default: the loopback interface. */
  host?: string;
  /** Further lines of the server's configuration. */
  config?: string[];
}

/** Starts a server with a new trust, created as `rtr credentials` creates it. Call its `stop` in `afterAll`. */
export async function startSecuredNats(options: SecuredNatsOptions) {
  const { prefix, ca, host = '127.0.0.1', config = [] } = options;
  const { nats: program } = await ensureServers(['nats'], process.env, (line) => console.info(line));
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-secured-'));
  const port = await findFreePort();
  const authority = await createAuthority(prefix, ca);
  const write = async (to: Authority, parameters: CredentialRequest): Promise<string> => {
    const { text, issued } = await issueCredential(to, parameters);
    to.issued.push(issued);
    const file = join(folder, `${parameters.name}.creds`);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const files = {} as Record<Role, string>;
  for (const role of roles)
    files[role] = await write(authority, { role, name: role, shared: tiers.some((tier) => tier === role) });
  await writeAuthority(folder, authority);
  const configFile = join(folder, 'nats.conf');
  const jetstream = `jetstream { store_dir: ${JSON.stringify(join(folder, 'jetstream'))} }`;
  writeFileSync(
    configFile,
    [`listen: "${host}:${port}"`, 'server_name: secured', jetstream, 'include ./nats-auth.conf', ...config, ''].join(
      '\n',
    ),
  );
  const start = async () => {
    const started = spawnGuarded(program, ['-c', configFile], { env: process.env });
    const errors: string[] = [];
    started.stderr?.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
    await until(async () => {
      if (started.exitCode !== null) throw new Error(`nats-server ended: ${errors.join('')}`);
      return (await queryPort({ host, port }, '', /^INFO /)) !== undefined;
    });
    return started;
  };
  let child = await start();
  const reload = (): void => void child.kill('SIGHUP');
  const connections: NatsConnection[] = [];
  return {
    port,
    /** Folder of its authority, whose `nats-auth.conf` it reads. */
    folder,
    /** File with the credential of each role that every cluster has. */
    files,
    /** Creates one more credential without touching the server, and returns its file. */
    issue: (parameters: CredentialRequest): Promise<string> => changeAuthority(folder, (to) => write(to, parameters)),
    /**
     * Connects with a credential until `stop`. `key` is the public key of its user if it has signed one, else any token. `refused` has the
     * server's refusals, `disconnects` the times at which the connection was lost, in milliseconds of `performance.now()`.
     */
    connectWith: async (file: string) => {
      const credential = await signOwnUser(parseCredential(readFileSync(file, 'utf8')));
      const { userKey: key = 'p' } = credential;
      const { options } = buildConnectionOptions({ url: `nats://127.0.0.1:${port}`, credential }, 'test');
      // On a busy machine, a connection takes more than the five seconds of these options.
      const nc = await connect({ ...options, timeout: 20_000 });
      connections.push(nc);
      const refused: Error[] = [];
      const disconnects: number[] = [];
      void (async () => {
        for await (const status of nc.status()) {
          if (status.type === 'error') refused.push(status.error);
          if (status.type === 'disconnect') disconnects.push(performance.now());
        }
      })();
      return { nc, key, refused, disconnects };
    },
    /** Revokes a credential by its name and makes the server read its configuration again. */
    revoke: async (name: string) => {
      await changeAuthority(folder, (authority) => void revokeCredentials(authority, (one) => one.name === name));
      reload();
    },
    /** Makes the server read its configuration again. */
    reload,
    /** Kills the server and starts it again. */
    restart: async () => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      child = await start();
    },
    stop: async () => {
      for (const connection of connections) await connection.close();
      await stopChild(child, 5_000);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A NATS server of a test's own that accepts no client without a credential. */
export type SecuredNats = Awaited<ReturnType<typeof startSecuredNats>>;
