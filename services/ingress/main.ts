import { join } from 'node:path';
import { RefusalLedger } from '#shared/accounts/ledger/refusals/refusal-ledger.ts';
import { runService } from '#shared/core/run-service.ts';
import { openConsole } from '../console/open-console.ts';
import { createApp } from './app.ts';
import { openResponses } from './background/open-responses.ts';
import { createBatchRoutes, openBatches } from './batches/batch-routes.ts';
import { createBoxRoutes } from './boxes/box-routes.ts';
import { openContext } from './context.ts';
import { createFileRoutes } from './files/file-routes.ts';
import { sendContent } from './files/send-content.ts';
import { openHeldBodies } from './http/held-bodies.ts';
import { openPort } from './http/open-port.ts';
import { createRequestParts } from './http/request-parts.ts';
import { BoundedResponse } from './http/unread/bounded-response.ts';
import { openIdempotency } from './idempotency/open-idempotency.ts';
import { createInstallRoutes } from './install/install-routes.ts';
import { readOwnPackage } from './install/read-own-package.ts';
import { openMcp } from './mcp/open-mcp.ts';
import { computeLoad } from './metrics/compute-load.ts';
import { registerMetrics } from './metrics/ingress-metrics.ts';
import { openRecording } from './recording/open-recording.ts';
import { openModels } from './routing/open-models.ts';
import { createStoredRoutes } from './routing/stored-routes.ts';
import { createSignInRoutes, openSignIn } from './sign-in/open-sign-in.ts';
import { createToolsRoutes, openToolLinks } from './tools/tools-routes.ts';

// Features are released in the reverse of the order in which they are opened here.
await runService(async (environment, releases) => {
  const context = await openContext(environment, releases);
  const { config, prefix, serving, unreadOutputs, log } = context;
  const { BODY_TIMEOUT_MS: bodyTimeoutMs } = config;
  const { files } = serving;
  const responses = openResponses(context);
  const batches = openBatches(context);
  const signIn = openSignIn(context);
  const heldBodies = openHeldBodies(context);
  const { connections, toolLinks } = openToolLinks(context);
  const refusals = new RefusalLedger(serving.redis.redis, prefix, log);
  releases.add('refusals', () => refusals.close());
  const { recordings, recorder } = openRecording(context);
  const console = openConsole(context, {
    signIn,
    connections,
    recordings,
    batches,
    sendFile: (request, response, file) =>
      sendContent(request, response, file, { files, unreadOutputs, bodyTimeoutMs }),
    openOutput: (response) => new BoundedResponse(response, unreadOutputs, () => response.destroy()),
  });
  const requests = createRequestParts(context, { ...signIn, ...console, heldBodies, toolLinks, refusals });
  const mcp = openMcp(context, requests);
  const handleKeyed = openIdempotency(context, requests, responses);
  const models = openModels(context, requests, responses, recorder, handleKeyed, [
    createStoredRoutes(requests, responses, handleKeyed),
    createFileRoutes(context, requests, handleKeyed),
    createBatchRoutes(context, requests, batches, handleKeyed),
  ]);
  registerMetrics(
    context,
    { heldBodies, hedges: models.hedges, storer: responses.storer },
    {
      batches: () => batches.countAllOpen(),
      responses: () => responses.background.responses.countAllOpen(),
      webhooks: () => console.webhooks.deliveries.countEndpoints(),
    },
  );
  const signInRoutes = createSignInRoutes(context, { ...signIn, noteReplay: console.noteReplay });
  const installRoutes = createInstallRoutes({
    publicUrl: config.PUBLIC_URL,
    readPackage: () => readOwnPackage(join(import.meta.dirname, '..', '..')),
    log,
  });
  const { app, directRoutes } = createApp(context, {
    ...requests,
    console,
    generateRoutes: models.generateRoutes,
    routes: [
      signInRoutes.addApiRoutes,
      (expressApp) => void expressApp.use(createBoxRoutes(context, console.boxNotes)),
      models.addRoutes,
      createToolsRoutes(requests, handleKeyed),
      mcp.addRoutes,
      signInRoutes.addRoutes,
      (expressApp) => expressApp.use(installRoutes),
    ],
  });
  const address = await openPort(context, {
    app,
    directRoutes,
    countRefusal: requests.countRefusal,
    onClosed: () => {
      mcp.stopListening();
      console.feed.close();
    },
  });
  context.reportReady(address, () => computeLoad(console.board.listCurrent(), serving.workers.workers()));
});
