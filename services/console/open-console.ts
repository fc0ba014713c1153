import { existsSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Router, type Request } from 'express';
import { AgentSessionReader } from '#shared/accounts/ledger/agent-sessions/agent-session-reader.ts';
import { agentSessionsKeptMs } from '#shared/accounts/ledger/agent-sessions/session-names.ts';
import { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { ExternalAccounts } from '#shared/accounts/sign-in/external-accounts/external-accounts.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { Programs } from '#shared/accounts/sign-in/programs/programs.ts';
import { RefusalReader } from '#shared/accounts/ledger/refusals/refusal-reader.ts';
import type { ShortOutages } from '#shared/store/redis/short-outages.ts';
import { SecondFactorStore } from '#shared/accounts/sign-in/second-factor/second-factor-store.ts';
import { checkPasswordStrength } from '#shared/accounts/sign-in/check-password-strength.ts';
import { Passwords } from '#shared/accounts/sign-in/passwords.ts';
import { openWebhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import { FreedSlotDelay } from '#shared/broker/dispatch/workers/freed-slot-delay.ts';
import { SharedEjections } from '#shared/broker/dispatch/workers/shared-ejections.ts';
import type { Environment } from '#shared/core/load-config.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Releases } from '#shared/core/release.ts';
import { version } from '#shared/core/version.ts';
import type { ClientApi } from '#shared/formats/client-api.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import type { ServingResources } from '#shared/serving/open/open-serving.ts';
import { createAdminApi } from './api/admin-api.ts';
import type { BackgroundParts } from './api/background/background-operations.ts';
import type { BatchParts } from './api/batches/batch-operations.ts';
import { mcpAccountLinkRoutes, type ConnectionRoutesParts } from './api/connections/mcp-account-link-routes.ts';
import type { ApiParts } from './api/api-parts.ts';
import { createConsoleApi } from './api/console-api.ts';
import { createOperations } from './api/create-operations.ts';
import type { FileParts } from './api/files/file-operations.ts';
import { liveRoutes } from './api/live-routes.ts';
import { createUsageParts } from './api/usage/create-usage-parts.ts';
import type { createHolderConfirmer } from './api/oidc/confirm-person.ts';
import { openOidc } from './api/oidc/open-oidc.ts';
import { createReplayListener, programRoutes } from './api/programs/program-routes.ts';
import { createBoxNotes } from './api/credentials/create-box-notes.ts';
import { createDemandCheck } from './api/second-factor/require-second-factor.ts';
import { createSessionIdentifier } from './api/session/create-session-identifier.ts';
import { docsFolder, pagesFolder } from './build/pages-stamp.ts';
import { LiveFeed, type StreamOutput } from './live/live-feed.ts';
import { StatsBoard } from './live/stats-board.ts';
import { StatsMeter } from './live/stats-meter.ts';
import { WorkerHistory } from './live/worker-history.ts';
import { serveDocs } from './pages/serve-docs.ts';
import { servePages } from './pages/serve-pages.ts';

const root = join(import.meta.dirname, '..', '..');
const docs = join(root, docsFolder);

/** What the console uses of the ingress that serves it. */
export interface ConsoleContext {
  /** The name of the ingress, a subject token. */
  id: string;
  /** Prefix of all names in Redis. */
  prefix: string;
  config: {
    NATS_URL: string;
    NATS_CREDENTIALS?: string | undefined;
    PUBLIC_URL?: string | undefined;
    HOST: string;
    TLS_FOLDER?: string | undefined;
    NATS_RELAY_URL?: string | undefined;
  };
  environment: Environment;
  serving: ServingResources;
  /** Makes requests wait during short outages of Redis. */
  outages: Pick<ShortOutages, 'retry'>;
  jobs: BackgroundParts['jobs'];
  /** The folder of the cluster's authority; undefined if this ingress makes no credentials. */
  authorityFolder: string | undefined;
  /** Returns the path of an API. */
  getBasePath: (api: ClientApi) => string;
  log: Logger;
  releases: Releases;
}

/** What the console uses of other features of the ingress. */
export interface ConsoleFeatures {
  signIn: {
    announce: ApiParts['announce'];
    programs: Programs;
    externals: ExternalAccounts;
    owners: { setConfirm(confirm: ReturnType<typeof createHolderConfirmer>): void };
  };
  connections: ConnectionRoutesParts['connections'];
  recordings: ApiParts['recordings'];
  batches: BatchParts['batches'];
  sendFile: FileParts['sendFile'];
  /** Opens the output through which the live feed writes to one page. */
  openOutput: (response: ServerResponse) => StreamOutput;
}

/** Opens the web console on one ingress: signing in, the API, the pages, and the live data behind them. */
export function openConsole(context: ConsoleContext, features: ConsoleFeatures) {
  const { id, prefix, config, environment, serving, outages, jobs, authorityFolder, log, releases } = context;
  const { accounts, broker, workers, dispatcher, registry, limits, prices, files, ownerKeys, secrets } = serving;
  const { redis } = serving.redis;
  const { reportUnreadable: report } = serving;
  const { signIn, connections, recordings, batches, sendFile } = features;
  const { announce, programs, externals } = signIn;
  const { PUBLIC_URL: publicUrl } = config;
  const settings = () => registry.current().sign_in;
  const oidc = openOidc({
    accounts,
    externals,
    settings,
    onChange: (listener) => registry.onChange(listener),
    secrets,
    environment,
    announce,
    publicUrl,
    log,
  });
  signIn.owners.setConfirm(oidc.confirmHolder);
  programs.setConfirm(async (user) => (user.passwordHash === '' ? oidc.confirm(user) : 'confirmed'));
  const secondFactors = new SecondFactorStore(redis, prefix, { keys: ownerKeys, secrets });
  const identifySession = createSessionIdentifier(accounts.sessions, createDemandCheck({ accounts, secondFactors }));
  const webhooks = openWebhooks(redis, prefix, { keys: ownerKeys, report });
  const ejections = new SharedEjections(workers);
  const meter = new StatsMeter(() => dispatcher.jobs());
  const freedSlotDelay = new FreedSlotDelay(broker, id, workers);
  releases.add('freed slot delay', () => freedSlotDelay.close());
  const board = new StatsBoard(
    broker,
    id,
    () => ({ ...meter.read(), ejected: ejections.listOwn() }),
    (from, stats) => {
      freedSlotDelay.onStats(from);
      if (from !== id) ejections.onList(from, stats.ejected ?? []);
    },
  );
  releases.add('stats', () => board.close());
  const history = new WorkerHistory(workers);
  const feed = new LiveFeed(workers, () => board.listCurrent(), features.openOutput);
  releases.add('live feed', () => feed.close());
  const apiParts: ApiParts = {
    accounts,
    passwords: new Passwords(),
    judgePassword: checkPasswordStrength,
    announce,
    log,
    devices: oidc.devices,
    secondFactors,
    externals: oidc.routes.externals,
    recordings,
    signIn: settings,
    signOutPage: oidc.signOutPage,
    publicUrl,
  };
  const usageParts = createUsageParts({
    accounts,
    usage: new UsageReader(redis, prefix, report),
    refusals: new RefusalReader(redis, prefix, report),
    limits,
    prices,
    log,
  });
  const operations = createOperations({
    account: apiParts,
    usage: usageParts,
    agentSessions: {
      ...usageParts,
      sessions: new AgentSessionReader(redis, prefix, agentSessionsKeptMs, report),
      running: () => board.listCurrent().flatMap(({ turns }) => turns),
      teamsOf: async ({ isAdmin, teamIds }) => (isAdmin ? (await accounts.teams.list()).map(({ id }) => id) : teamIds),
    },
    workers: {
      accounts,
      log,
      broker,
      workers,
      history,
      registry: () => registry.current(),
      modelFacts: {
        priceOf: (tier, model) => prices.priceOf(tier, model),
        speedOf: (tier, model) => meter.modelSpeeds.find(tier, model),
      },
    },
    credentials: {
      accounts,
      log,
      authority: authorityFolder === undefined ? undefined : { folder: authorityFolder, natsUrl: config.NATS_URL },
      listening: {
        publicUrl,
        host: config.HOST,
        tlsFolder: config.TLS_FOLDER,
        hasRelay: config.NATS_RELAY_URL !== undefined,
      },
    },
    registry: { accounts, log, registry },
    webhooks: { accounts, log, webhooks },
    batches: {
      accounts,
      log,
      batches,
      work: new BatchWork(redis, prefix, { report }),
      batchApis: [...new Set(clientFormats.map(({ api }) => api))].flatMap(({ segment, batches: shape }) =>
        shape ? [segment] : [],
      ),
    },
    files: { accounts, log, files, sendFile },
    background: { accounts, log, jobs, webhooks },
  });
  const routerFacts = {
    version,
    formats: clientFormats.map((format) => ({ name: format.name, path: context.getBasePath(format.api) })),
    managesCredentials: authorityFolder !== undefined,
    needsCredentials: config.NATS_CREDENTIALS !== undefined,
    // It may be built while the router runs.
    get hasDocs() {
      return existsSync(docs);
    },
    records: recordings.isOn,
    tracesRecordings: recordings.isTraced,
  };
  const api = createConsoleApi({
    ...apiParts,
    oidc: oidc.routes,
    operations,
    signedInRoutes: [
      liveRoutes({ accounts, feed, routerFacts }),
      mcpAccountLinkRoutes({ accounts, log, connections, publicUrl }),
      programRoutes({ accounts, log, programs, announce }),
    ],
  });
  const adminApi = createAdminApi({ ...apiParts, confirmHolder: oidc.confirmHolder }, operations);
  return {
    api,
    /** Serves the operations of `api` to programs, see `createAdminApi`. */
    adminApi,
    pages: Router({ caseSensitive: true })
      .use(serveDocs(docs))
      .use(servePages(join(root, pagesFolder))),
    meter,
    board,
    feed,
    webhooks,
    /** Identifies the sender of an API request from a page, see `createSessionIdentifier`. */
    verifySession: (request: Request) => outages.retry(() => identifySession(request)),
    noteReplay: createReplayListener({ accounts, log }),
    boxNotes: createBoxNotes({ accounts, log }),
  };
}
