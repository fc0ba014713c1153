import { Router, type Request } from 'express';
import { z } from 'zod';
import type { Accounts } from '#shared/accounts/accounts.ts';
import { ConnectError } from '#shared/connections/connect-error.ts';
import type { McpAccountLinks, ServerForPerson } from '#shared/connections/mcp-account-links.ts';
import { connectionsPath } from '#shared/connections/tool-account-links.ts';
import type { Logger } from '#shared/core/log.ts';
import { resolveRouterAddress } from '#shared/core/router-address.ts';
import type { McpAccountLink } from '../../contract/mcp-account-links.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { writeAudit } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { getSignedIn, type SignedIn } from '../session/signed-in.ts';

export interface ConnectionRoutesParts {
  accounts: Accounts;
  log: Logger;
  connections: Pick<McpAccountLinks, 'list' | 'begin' | 'complete' | 'disconnect'>;
  /** See `ApiParts`. */
  publicUrl: string | undefined;
}

const text = z.string().min(1).max(8_192);
const callbackBody = z.strictObject({ state: text, code: text.optional(), iss: text.optional() });

/** Creates the routes for the MCP account links of the signed-in person. Nobody sees or changes the links of others. */
export function mcpAccountLinkRoutes(parts: ConnectionRoutesParts): Router {
  const { connections } = parts;
  const routes = Router({ caseSensitive: true, strict: true });
  routes.get('/connections', async (_, response) => {
    response.json((await connections.list(getSignedIn(response).id)).map(toLinkAnswer));
  });
  routes.post('/connections', async (request, response) => {
    const person = getSignedIn(response);
    const { state, code, iss } = parse(callbackBody, request.body);
    const server = await translateConnectErrors(() =>
      connections.complete(person.id, person.sessionId, { state, code, iss }),
    );
    await auditLink(parts, person, 'connection.make', server);
    response.json({ server });
  });
  routes.post('/connections/:server', async (request, response) => {
    const { id, sessionId } = getSignedIn(response);
    const { server } = request.params;
    const url = await translateConnectErrors(() =>
      connections.begin(id, sessionId, server, computePageUrl(request, parts)),
    );
    if (!url) throw notFound();
    response.json({ url: url.href });
  });
  routes.delete('/connections/:server', async (request, response) => {
    const person = getSignedIn(response);
    const { server } = request.params;
    if (!(await connections.disconnect(person.id, server))) throw notFound();
    await auditLink(parts, person, 'connection.remove', server);
    response.status(204).end();
  });
  return routes;
}

function toLinkAnswer({ server, url, state, connectedAt }: ServerForPerson): McpAccountLink {
  return { server, host: new URL(url).host, state, ...(connectedAt === undefined ? {} : { connectedAt }) };
}

/** Returns the address of the page to which an MCP server sends people back. It is the same for all servers. */
function computePageUrl(request: Request, { publicUrl }: Pick<ConnectionRoutesParts, 'publicUrl'>): string {
  return new URL(connectionsPath, resolveRouterAddress(request, publicUrl)).href;
}

/**
 * Runs `connect` and turns a ConnectError into a failure of the API.
 * @throws ApiFailure 422 with the message of the ConnectError
 */
async function translateConnectErrors<T>(connect: () => Promise<T>): Promise<T> {
  try {
    return await connect();
  } catch (error) {
    throw error instanceof ConnectError ? new ApiFailure(422, 'not_connected', error.message) : error;
  }
}

async function auditLink(
  parts: ConnectionRoutesParts,
  person: SignedIn,
  action: string,
  server: string,
): Promise<void> {
  await writeAudit(parts, person, { action, target: { kind: 'mcp-server', id: server, name: server }, details: {} });
}
