import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import type { Accounts } from '#shared/accounts/accounts.ts';
import type { Programs } from '#shared/accounts/programs/programs.ts';
import type { AgentSessionReader } from '#shared/accounts/agent-sessions/agent-session-reader.ts';
import type { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { RefusalReader } from '#shared/accounts/refusals/refusal-reader.ts';
import type { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import type { PriceTable } from '#shared/accounts/prices/price-table.ts';
import { checkPasswordStrength } from '#shared/accounts/sign-in/check-password-strength.ts';
import { Passwords } from '#shared/accounts/sign-in/passwords.ts';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import type { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import { FreedSlotDelay } from '#shared/broker/dispatch/workers/freed-slot-delay.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { SharedEjections } from '#shared/broker/dispatch/workers/shared-ejections.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Releases } from '#shared/core/release.ts';
import type { OpenRegistry } from '#shared/serving/open/open-registry.ts';
import type { Webhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import { createAdminApi } from './api/admin-api.ts';
import type { BackgroundParts } from './api/background/background-operations.ts';
import type { BatchParts } from './api/batches/batch-operations.ts';
import type { CredentialParts } from './api/credentials/credential-operations.ts';
import { mcpAccountLinkRoutes, type ConnectionRoutesParts } from './api/connections/mcp-account-link-routes.ts';
import type { ApiParts } from './api/api-parts.ts';
import { createConsoleApi } from './api/console-api.ts';
import { createOperations } from './api/create-operations.ts';
import type { FileParts } from './api/files/file-operations.ts';
import { liveRoutes } from './api/live-routes.ts';
import { createUsageParts } from './api/usage/create-usage-parts.ts';
import type { openOidc } from './api/oidc/open-oidc.ts';
import { programRoutes } from './api/programs/program-routes.ts';
import { pagesFolder } from './build/pages-stamp.ts';
import type { RouterFacts } from './contract/live.ts';
import { LiveFeed, type StreamOutput } from './live/live-feed.ts';
import { StatsBoard } from './live/stats-board.ts';
import { StatsMeter } from './live/stats-meter.ts';
import { WorkerHistory } from './live/worker-history.ts';
import { servePages } from './pages/serve-pages.ts';

const root = join(import.meta.dirname, '..', '..');

export interface ConsoleParts {
  ingress: string;
  accounts: Accounts;
  usage: UsageReader;
  sessions: AgentSessionReader;
  refusals: RefusalReader;
  limits: LimitKeeper;
  prices: PriceTable;
  webhooks: Webhooks;
  batches: Omit<BatchParts, 'accounts' | 'log'>;
  files: Omit<FileParts, 'accounts' | 'log'>;
  background: BackgroundParts['jobs'];
  authority: CredentialParts['authority'];
  connections: ConnectionRoutesParts['connections'];
  broker: Broker;
  workers: LiveWorkers;
  /** The ejections of workers. The stats of each ingress list its own ejections. */
  ejections: Pick<SharedEjections, 'listOwn' | 'onList'>;
  dispatcher: Dispatcher;
  registry: OpenRegistry;
  /** See `ApiParts`. */
  announce: ApiParts['announce'];
  programs: Programs;
  oidc: ReturnType<typeof openOidc>;
  secondFactors: ApiParts['secondFactors'];
  recordings: ApiParts['recordings'];
  publicUrl: string | undefined;
  routerFacts: Omit<RouterFacts, 'managesCredentials' | 'records' | 'tracesRecordings'>;
  /** Opens the output through which the live feed writes to one page. */
  openOutput: (response: ServerResponse) => StreamOutput;
  log: Logger;
  releases: Releases;
}

export interface Console {
  api: RequestHandler;
  /** Serves the operations of `api` to programs, see `createAdminApi`. */
  adminApi: RequestHandler;
  pages: RequestHandler;
  meter: StatsMeter;
  board: StatsBoard;
  feed: LiveFeed;
}

/** Opens the web console on one ingress: its API, its pages and the live data behind them. */
export function openConsole(parts: ConsoleParts): Console {
  const {
    ingress,
    accounts,
    usage,
    refusals,
    limits,
    prices,
    webhooks,
    batches,
    files,
    background,
    connections,
    broker,
  } = parts;
  const {
    workers,
    ejections,
    dispatcher,
    registry,
    announce,
    programs,
    oidc,
    secondFactors,
    publicUrl,
    authority,
    log,
    releases,
  } = parts;
  const routerFacts: RouterFacts = {
    ...parts.routerFacts,
    managesCredentials: authority !== undefined,
    records: parts.recordings.isOn,
    tracesRecordings: parts.recordings.isTraced,
  };
  const meter = new StatsMeter(() => dispatcher.jobs());
  const freedSlotDelay = new FreedSlotDelay(broker, ingress, workers);
  releases.add('freed slot delay', () => freedSlotDelay.close());
  const board = new StatsBoard(
    broker,
    ingress,
    () => ({ ...meter.read(), ejected: ejections.listOwn() }),
    (from, stats) => {
      freedSlotDelay.onStats(from);
      if (from !== ingress) ejections.onList(from, stats.ejected ?? []);
    },
  );
  releases.add('stats', () => board.close());
  const history = new WorkerHistory(workers);
  const feed = new LiveFeed(workers, () => board.listCurrent(), parts.openOutput);
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
    recordings: parts.recordings,
    signIn: () => registry.current().sign_in,
    signOutPage: oidc.signOutPage,
    publicUrl,
  };
  const usageParts = createUsageParts({ accounts, usage, refusals, limits, prices, log });
  const operations = createOperations({
    account: apiParts,
    usage: usageParts,
    agentSessions: {
      ...usageParts,
      sessions: parts.sessions,
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
    credentials: { accounts, log, authority },
    registry: { accounts, log, registry },
    webhooks: { accounts, log, webhooks },
    batches: { accounts, log, ...batches },
    files: { accounts, log, ...files },
    background: { accounts, log, jobs: background, webhooks },
  });
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
  return { api, adminApi, pages: servePages(join(root, pagesFolder)), meter, board, feed };
}
