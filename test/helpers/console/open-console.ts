import express from 'express';
import { pino, type Logger } from 'pino';
import { inject } from 'vitest';
import type { AdminScope } from '#shared/accounts/keys/admin-tokens/admin-token.ts';
import type { ExternalAccounts } from '#shared/accounts/sign-in/external-accounts/external-accounts.ts';
import { KeyVerifier } from '#shared/accounts/keys/key-verifier.ts';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { Passwords } from '#shared/accounts/sign-in/passwords.ts';
import { Recordings } from '#shared/accounts/recordings/recordings.ts';
import { openWebhooks, type Webhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import { SecondFactorStore } from '#shared/accounts/sign-in/second-factor/second-factor-store.ts';
import { emptyRegistry } from '#shared/registry/registry.ts';
import type { SignInSettings } from '#shared/registry/sign-in.ts';
import { openOidc } from '#services/console/api/oidc/open-oidc.ts';
import { createConsoleApi } from '#services/console/api/console-api.ts';
import { accountOperations } from '#services/console/api/create-operations.ts';
import { createAdminApi } from '#services/console/api/admin-api.ts';
import type { ApiParts } from '#services/console/api/api-parts.ts';
import type { Operation } from '#services/console/api/operations/operation.ts';
import { recordingOperations } from '#services/console/api/recordings/recording-operations.ts';
import { webhookOperations } from '#services/console/api/webhooks/webhook-operations.ts';
import { AdminClient } from './admin-client.ts';
import { ConsoleClient } from './console-client.ts';
import { goodPassword } from './good-password.ts';
import { linkPath } from './link-path.ts';
import { openExternals } from '../accounts/open-externals.ts';
import { serveInTest } from '../servers/serve-http.ts';
import { openKeyStore, type OpenKeyStore } from '../accounts/open-key-store.ts';

/** The console's API and the Admin API on their own server in this process, with a prefix of their own in the shared Redis. */
export interface OpenConsole extends OpenKeyStore {
  url: string;
  webhooks: Webhooks;
  recordings: Recordings;
  externals: ExternalAccounts;
  secondFactors: SecondFactorStore;
  /** All log lines of the API. */
  apiLog: string[];
  /** Returns the actions in the audit trail, newest first. */
  actions: () => Promise<string[]>;
  /** The announced changes, in order. */
  announced: string[];
  /** Verifies keys as an ingress that receives the announcements. */
  verifier: KeyVerifier;
  /** Returns a client without a sign-in. */
  browser: () => ConsoleClient;
  /** The first administrator, `ada@example.com`, signed in. */
  firstAdmin: () => Promise<Person>;
  /** Invites a person and accepts the invitation; returns the person, signed in. */
  join: (admin: Person, email: string, parameters?: { role?: 'admin' | 'member'; teamId?: string }) => Promise<Person>;
}

export interface Person extends ConsoleClient {
  id: string;
  email: string;
}

/** Creates a token of a person, and returns a program with it. */
export async function programOf(person: ConsoleClient, ...scopes: AdminScope[]): Promise<AdminClient> {
  const { status, body } = await person.post('/tokens', { name: 'ci', scopes });
  if (status !== 201) throw new Error(`no token: ${JSON.stringify(body)}`);
  return new AdminClient(person.url, String(body.raw));
}

export type House<Name extends string = never> = OpenConsole & { ada: Person } & Record<Name, Person>;

export interface ConsoleOptions {
  trustProxy?: boolean | number | readonly string[];
  publicUrl?: string;
  /** Default: the shared Redis. */
  redisUrl?: string;
  /** How people sign in. Default: with a password. */
  signIn?: SignInSettings;
  /** Whether requests may be recorded. Default: not. */
  isRecording?: boolean;
  /** Operations besides those of accounts and webhooks. */
  furtherOperations?: (open: OpenKeyStore & { webhooks: Webhooks; log: Logger }) => readonly Operation[];
}

/** Opens the console for the running test. Passwords are judged by length only: the real check takes a second. */
export async function openConsole({
  trustProxy = false,
  publicUrl = 'https://llm.example.com',
  furtherOperations = () => [],
  signIn = emptyRegistry.sign_in,
  isRecording = false,
  redisUrl = inject('redisUrl'),
}: ConsoleOptions = {}): Promise<OpenConsole> {
  const open = await openKeyStore(redisUrl);
  const verifier = new KeyVerifier(open.store);
  const apiLog: string[] = [];
  const webhooks = openWebhooks(open.connection.redis, open.prefix, { keys: new OwnerKeys(() => [Buffer.alloc(32)]) });
  const log = pino({ level: 'trace' }, { write: (line) => void apiLog.push(line) });
  const announced: string[] = [];
  const app = express();
  app.set('trust proxy', trustProxy);
  const announce = async (changed: string): Promise<void> => {
    announced.push(changed);
    verifier.drop(changed);
  };
  const { accounts, connection, prefix } = open;
  const secrets = (): readonly Uint8Array[] => [Buffer.alloc(32)];
  const secondFactors = new SecondFactorStore(connection.redis, prefix, { keys: new OwnerKeys(secrets), secrets });
  const recordings = new Recordings(connection.redis, prefix, {
    bounds: { keepMs: 3_600_000, ownerCount: 100, ownerBytes: 1024 ** 2, totalBytes: 1024 ** 2 },
    keys: new OwnerKeys(secrets),
  });
  const shared = { accounts, announce, log, publicUrl };
  const oidc = openOidc({
    ...shared,
    externals: openExternals(open, secrets()),
    settings: () => signIn,
    onChange: () => undefined,
    secrets,
    environment: {},
  });
  const parts: ApiParts = {
    ...shared,
    passwords: new RememberedPasswords(),
    judgePassword: async (_, password) => (password.length < 12 ? 'This is easy to guess.' : undefined),
    devices: oidc.devices,
    secondFactors,
    externals: oidc.routes.externals,
    recordings: { store: recordings, isOn: isRecording, isTraced: false },
    signIn: () => signIn,
    signOutPage: oidc.signOutPage,
  };
  const operations = [
    ...accountOperations(parts),
    ...recordingOperations(parts),
    ...webhookOperations({ accounts, log, webhooks }),
    ...furtherOperations({ ...open, webhooks, log }),
  ];
  app.use('/console/api', createConsoleApi({ ...parts, oidc: oidc.routes, operations, signedInRoutes: [] }));
  app.use('/api/admin/v1', createAdminApi({ ...parts, confirmHolder: oidc.confirmHolder }, operations));
  const url = await serveInTest(app);
  const browser = () => new ConsoleClient(url);

  async function enter(path: string, name: string, email: string): Promise<Person> {
    const client = browser();
    const { status, body } = await client.post(path, { name, email, password: goodPassword });
    if (status !== 200) throw new Error(`the link did not work: ${JSON.stringify(body)}`);
    return Object.assign(client, { id: String(body.user.id), email });
  }

  return {
    ...open,
    url,
    webhooks,
    recordings,
    secondFactors,
    apiLog,
    actions: async () => (await open.accounts.audit.list()).entries.map(({ action }) => action),
    announced,
    externals: oidc.routes.externals,
    verifier,
    browser,
    firstAdmin: async () => enter(`/links/${await open.accounts.links.issueFirstAdmin()}`, 'Ada', 'ada@example.com'),
    join: async (admin, email, parameters = {}) => {
      const { body } = await admin.post('/invitations', { email, role: 'member', ...parameters });
      return enter(linkPath(body.link), email.split('@')[0] ?? '', email);
    },
  };
}

const hashes = new Map<string, Promise<string>>();

/** The passwords of a console, each hashed only once in all tests: hashing takes longer than all other steps of creating a person. */
class RememberedPasswords extends Passwords {
  override hash(owner: string, password: string): Promise<string> {
    const hash = hashes.get(password) ?? super.hash(owner, password);
    hashes.set(password, hash);
    return hash;
  }
}

/** Opens a console with its first administrator, Ada, and with members who have joined in this order, all signed in. */
export async function openHouse<Name extends string = never>(
  members: readonly Name[] = [],
  options: ConsoleOptions = {},
): Promise<House<Name>> {
  const console = await openConsole(options);
  const ada = await console.firstAdmin();
  const joined: [string, Person][] = [];
  for (const name of members) joined.push([name, await console.join(ada, `${name}@example.com`)]);
  return { ...console, ada, ...(Object.fromEntries(joined) as Record<Name, Person>) };
}

/** Opens the same with a team, Blue: Bob owns it, and Eve is a member. Further members of the console are in no team. */
export async function openTeam<Name extends string = never>(others: readonly Name[] = [], options?: ConsoleOptions) {
  const house = await openHouse<Name | 'bob' | 'eve'>(['bob', 'eve', ...others], options);
  const { body: team } = await house.ada.post('/teams', { name: 'Blue' });
  const teamId = String(team.id);
  await house.accounts.teams.setMember(teamId, house.bob.id, 'owner');
  await house.accounts.teams.setMember(teamId, house.eve.id, 'member');
  return { ...house, teamId };
}
