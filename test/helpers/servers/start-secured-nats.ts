import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { createAuthority } from '#shared/broker/authority/authority.ts';
import { changeAuthority, writeAuthority } from '#shared/broker/authority/authority-folder.ts';
import { issueCredential, type CredentialRequest } from '#shared/broker/authority/issue-credential.ts';
import { revokeCredentials } from '#shared/broker/authority/revoke-credentials.ts';
import { roles, type Role } from '#shared/broker/connection/credential.ts';
import { ensureServer } from '#services/rtr/up/servers/install-server.ts';
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
  const program = await ensureServer('nats', process.env, (line) => console.info(line));
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-secured-'));
  const port = await findFreePort();
  await writeAuthority(folder, await createAuthority(prefix, ca));
  const configFile = join(folder, 'nats.conf');
  const jetstream = `jetstream { store_dir: ${JSON.stringify(join(folder, 'jetstream'))} }`;
  writeFileSync(
    configFile,
    [`listen: "${host}:${port}"`, 'server_name: secured', jetstream, 'include ./nats-auth.conf', ...config, ''].join(
      '\n',
    ),
  );
  const child = spawnGuarded(program, ['-c', configFile], { env: process.env });
  const errors: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`nats-server ended: ${errors.join('')}`);
    return (await queryPort({ host, port }, '', /^INFO /)) !== undefined;
  });
  const issue = async (parameters: CredentialRequest): Promise<string> => {
    const { text } = await changeAuthority(folder, async (authority) => {
      const made = await issueCredential(authority, parameters);
      authority.issued.push(made.issued);
      return made;
    });
    const file = join(folder, `${parameters.name}.creds`);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const files = {} as Record<Role, string>;
  for (const role of roles) files[role] = await issue({ role, name: role });
  const reload = (): void => void child.kill('SIGHUP');
  const connections: NatsConnection[] = [];
  return {
    port,
    /** Folder of its authority, whose `nats-auth.conf` it reads. */
    folder,
    /** File with the credential of each role that every cluster has. */
    files,
    /** Creates one more credential without touching the server, and returns its file. */
    issue,
    /** Connects with a credential until `stop`. `refused` has the server's refusals. */
    connectWith: async (file: string, inboxPrefix: string) => {
      const nc = await connect({ port, authenticator: credsAuthenticator(readFileSync(file)), inboxPrefix });
      connections.push(nc);
      const refused: Error[] = [];
      void (async () => {
        for await (const status of nc.status()) if (status.type === 'error') refused.push(status.error);
      })();
      return { nc, refused };
    },
    /** Revokes a credential by its name and makes the server read its configuration again. */
    revoke: async (name: string) => {
      await changeAuthority(folder, (authority) => void revokeCredentials(authority, (one) => one.name === name));
      reload();
    },
    /** Makes the server read its configuration again. */
    reload,
    stop: async () => {
      for (const connection of connections) await connection.close();
      await stopChild(child, 5_000);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A NATS server of a test's own that accepts no client without a credential. */
export type SecuredNats = Awaited<ReturnType<typeof startSecuredNats>>;
